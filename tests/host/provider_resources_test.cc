// ProviderClient: configuration and the life cycle of resources: what is sent, and what answers
// mean (P49, P67-P81).

#include "host/wire/status_codec.h"
#include "pulumirpc/errors.pb.h"
#include "tests/host/provider_client_fixture.h"

namespace davit::testing {
namespace {

TEST_CASE("P49 Configure: variables, args with secrets, and all flags") {
  Connection c;
  c.Handshake(false);
  rpc::ConfigureRequest seen;
  c.fake.configure = [&](const rpc::ConfigureRequest& request, auto*) {
    seen = request;
    return FakeStatus();
  };
  ConfigureRequest request{kProviderUrn, "the-id", {}};
  request.inputs = {{"version", PropertyValue("1.0.0")},
                    {"text", PropertyValue("a<b")},
                    {"flag", PropertyValue(true)},
                    {"number", PropertyValue(1.5)},
                    {"map", PropertyValue(PropertyMap{{"k", MakeSecret(PropertyValue("<s>"))}})}};
  REQUIRE(Await(c.loop, c.client->Configure(request, {})));
  REQUIRE(seen.id() == "the-id");
  REQUIRE(seen.urn() == kProviderUrn.text());
  REQUIRE(seen.name() == "p");
  REQUIRE(seen.type() == "pulumi:providers:pkg");
  REQUIRE(seen.acceptsecrets());
  REQUIRE(seen.acceptresources());
  REQUIRE(seen.sends_old_inputs());
  REQUIRE(seen.sends_old_inputs_to_delete());
  const std::map<std::string, std::string> variables(seen.variables().begin(),
                                                     seen.variables().end());
  REQUIRE(variables ==
          std::map<std::string, std::string>{{"pkg:config:flag", "true"},
                                             {"pkg:config:map", "{\"k\":\"\\u003cs\\u003e\"}"},
                                             {"pkg:config:number", "1.5"},
                                             {"pkg:config:text", "a<b"}});
  REQUIRE(seen.args().fields().at("version").string_value() == "1.0.0");
  const auto& secret =
      seen.args().fields().at("map").struct_value().fields().at("k").struct_value();
  REQUIRE(secret.fields().at(kSignature).string_value() == kSecretSignature);
}

TEST_CASE("P52 missing keys of Configure are named with the command that sets them") {
  Connection c;
  c.fake.configure = [](const auto&, auto*) {
    RpcStatus status{.code = RpcCode::kInvalidArgument, .message = "bad", .details = {}};
    rpc::ConfigureErrorMissingKeys missing;
    auto* key = missing.add_missingkeys();
    key->set_name("pkg:token");
    key->set_description("the token");
    AddDetail(missing, &status);
    return FakeStatus{3, status.message, status.details};
  };
  const Result<void> done =
      Await(c.loop, c.client->Configure(ConfigureRequest{kProviderUrn, "id", {}}, {}));
  RequireContains(done.error().message, "'pkg:token': the token");
  RequireContains(done.error().advice, "config set pkg:token <value>");
}

TEST_CASE(
    "P70, P73 Check: olds and old outputs are always present; name and type come from the URN") {
  Connection c;
  c.Handshake();
  rpc::CheckRequest seen;
  c.fake.check = [&](const rpc::CheckRequest& request, rpc::CheckResponse* response) {
    seen = request;
    *response->mutable_inputs() = request.news();
    auto* failure = response->add_failures();
    failure->set_property("p");
    failure->set_reason("why");
    return FakeStatus();
  };
  CheckRequest request;
  request.urn = kUrn;
  request.news = {{"s", MakeSecret(PropertyValue("x"))}, {"u", PropertyValue(Unknown{})}};
  request.allow_unknowns = true;
  request.random_seed = std::string(32, '\xff');
  const Result<CheckResponse> response = Await(c.loop, c.client->Check(request, {}));
  REQUIRE(response);
  REQUIRE(FieldsOf(seen) ==
          Names{"name", "news", "old_outputs", "olds", "randomSeed", "type", "urn"});
  REQUIRE(seen.name() == "a::b");
  REQUIRE(seen.type() == "pkg:index:Thing");
  REQUIRE(seen.randomseed() == request.random_seed);
  REQUIRE(response->inputs == request.news);
  REQUIRE(response->failures.front().reason == "why");

  // P69: without preview an unknown is dropped on the way out, and refused on the way in.
  request.allow_unknowns = false;
  REQUIRE(Await(c.loop, c.client->Check(request, {})));
  REQUIRE(!seen.news().fields().contains("u"));
  c.fake.check = [](const auto&, rpc::CheckResponse* response_message) {
    (*response_message->mutable_inputs()->mutable_fields())["u"].set_string_value(
        "04da6b54-80e4-46f7-96ec-b56ff0331ba9");
    return FakeStatus();
  };
  REQUIRE(!Await(c.loop, c.client->Check(request, {})));
}

TEST_CASE("P68 secrets are sent bare to a plugin that does not accept them, and put back") {
  Connection c;
  c.Handshake(false);
  c.fake.check = [](const rpc::CheckRequest& request, rpc::CheckResponse* response) {
    REQUIRE(request.news().fields().at("s").string_value() == "x");
    *response->mutable_inputs() = request.news();
    return FakeStatus();
  };
  CheckRequest request;
  request.urn = kUrn;
  request.news = {
      {"s", MakeSecret(PropertyValue("x"))},
      {"list", PropertyValue(PropertyList{MakeSecret(PropertyValue(1)), PropertyValue(2)})}};
  const Result<CheckResponse> response = Await(c.loop, c.client->Check(request, {}));
  REQUIRE(response->inputs.at("s").is_secret());
  REQUIRE(response->inputs.at("list").is_secret());
}

TEST_CASE("P69 CheckConfig never sends secrets, and always puts them back") {
  Connection c;
  c.Handshake(true);
  rpc::CheckRequest seen;
  c.fake.check_config = [&](const rpc::CheckRequest& request, rpc::CheckResponse* response) {
    seen = request;
    *response->mutable_inputs() = request.news();
    return FakeStatus();
  };
  CheckRequest request;
  request.urn = kProviderUrn;
  request.news = {{"token", MakeSecret(PropertyValue("x"))}, {"u", PropertyValue(Unknown{})}};
  request.allow_unknowns = true;
  const Result<CheckResponse> response = Await(c.loop, c.client->CheckConfig(request, {}));
  REQUIRE(FieldsOf(seen) == Names{"name", "news", "olds", "type", "urn"});
  REQUIRE(seen.news().fields().at("token").string_value() == "x");
  REQUIRE(response->inputs.at("token").is_secret());
  REQUIRE(response->inputs.at("u").is_unknown());
}

TEST_CASE("P74 errors that mean unimplemented in CheckConfig and DiffConfig") {
  Connection c;
  FakeStatus status{13, "boom", {}};
  c.fake.check_config = [&](const auto&, auto*) { return status; };
  c.fake.diff_config = [&](const auto&, auto*) { return status; };
  const auto check = [&](const char* package) {
    CheckRequest request;
    request.urn = Urn::Trusted(std::string("urn:pulumi:d::p::pulumi:providers:") + package + "::n");
    return Await(c.loop, c.client->CheckConfig(request, {})).error().kind;
  };
  const auto diff = [&](const char* package) {
    DiffRequest request;
    request.urn = Urn::Trusted(std::string("urn:pulumi:d::p::pulumi:providers:") + package + "::n");
    return Await(c.loop, c.client->DiffConfig(request, {})).error().kind;
  };
  REQUIRE(check("pulumi-nodejs") == ErrorKind::kUnimplemented);
  REQUIRE(diff("pulumi-nodejs") == ErrorKind::kUnimplemented);
  REQUIRE(check("aws") == ErrorKind::kFailed);
  status = FakeStatus{2, "rpc: Unimplemented here", {}};
  REQUIRE(check("kubernetes") == ErrorKind::kUnimplemented);
  REQUIRE(check("aws") == ErrorKind::kFailed);
  status = FakeStatus{2, "cannot unmarshal string into Go value of type struct", {}};
  REQUIRE(diff("kubernetes") == ErrorKind::kUnimplemented);
  REQUIRE(check("kubernetes") == ErrorKind::kFailed);
}

TEST_CASE("P79 Diff: fields, elided assets and the detailed answer") {
  Connection c;
  c.Handshake();
  rpc::DiffRequest seen;
  c.fake.diff = [&](const rpc::DiffRequest& request, rpc::DiffResponse* response) {
    seen = request;
    response->set_changes(rpc::DiffResponse::DIFF_SOME);
    response->add_replaces("a");
    response->set_deletebeforereplace(true);
    response->set_hasdetaileddiff(true);
    (*response->mutable_detaileddiff())["a.b"].set_kind(rpc::PropertyDiff::ADD_REPLACE);
    (*response->mutable_detaileddiff())["c"].set_kind(static_cast<rpc::PropertyDiff::Kind>(99));
    return FakeStatus();
  };
  Asset asset;
  asset.source = Asset::Source::kText;
  asset.content = "hello";
  asset.hash = "abc";
  DiffRequest request;
  request.id = "id";
  request.urn = kUrn;
  request.new_inputs = {{"file", PropertyValue(asset)}};
  request.ignore_changes = {"x"};
  const Result<DiffResponse> response = Await(c.loop, c.client->Diff(request, {}));
  REQUIRE(FieldsOf(seen) ==
          Names{"id", "ignoreChanges", "name", "news", "old_inputs", "olds", "type", "urn"});
  REQUIRE(seen.news().fields().at("file").struct_value().fields_size() == 2);  // signature and hash
  REQUIRE(response->changes == DiffChanges::kSome);
  REQUIRE(response->delete_before_replace);
  REQUIRE(response->detailed->at("a.b").kind == DiffKind::kAddReplace);
  REQUIRE(response->detailed->at("c").kind == DiffKind::kUpdate);

  c.fake.diff = [](const auto&, rpc::DiffResponse* answer) {
    (*answer->mutable_detaileddiff())["ignored"].set_kind(rpc::PropertyDiff::ADD);
    return FakeStatus();
  };
  const Result<DiffResponse> unknown = Await(c.loop, c.client->Diff(request, {}));
  REQUIRE(unknown->changes == DiffChanges::kUnknown);
  REQUIRE(!unknown->detailed);
}

TEST_CASE("P80 Create: status target only with a token, full assets, unknowns only in a preview") {
  Connection c;
  c.Handshake();
  rpc::CreateRequest seen;
  c.fake.create = [&](const rpc::CreateRequest& request, rpc::CreateResponse* response) {
    seen = request;
    response->set_id("new");
    response->set_refresh_before_update(true);
    *response->mutable_properties() = request.properties();
    return FakeStatus();
  };
  CreateRequest request;
  request.urn = kUrn;
  request.inputs = {{"u", PropertyValue(Unknown{})}, {"k", PropertyValue("v")}};
  request.preview = true;
  Result<CreateResponse> response = Await(c.loop, c.client->Create(request, {}));
  REQUIRE(FieldsOf(seen) == Names{"name", "preview", "properties", "type", "urn"});
  REQUIRE(response->outputs.at("u").is_unknown());
  request.preview = false;
  request.status_token = "token";
  request.timeout_seconds = 2.5;
  request.inputs.clear();
  response = Await(c.loop, c.client->Create(request, {}));
  REQUIRE(FieldsOf(seen) == Names{"name",
                                  "properties",
                                  "resource_status_address",
                                  "resource_status_token",
                                  "timeout",
                                  "type",
                                  "urn"});
  REQUIRE(response->id == "new");
  REQUIRE(response->refresh_before_update);
}

FakeStatus InitFailed(int code) {
  RpcStatus status{.code = static_cast<RpcCode>(code), .message = "not ready", .details = {}};
  rpc::ErrorResourceInitFailed failed;
  failed.set_id("half");
  (*failed.mutable_properties()->mutable_fields())["k"].set_string_value("v");
  (*failed.mutable_inputs()->mutable_fields())["i"].set_string_value("w");
  failed.add_reasons("first");
  failed.add_reasons("second");
  AddDetail(failed, &status);
  return FakeStatus{code, status.message, status.details};
}

TEST_CASE("P77 a partial failure is data, whatever the code") {
  Connection c;
  c.Handshake();
  c.fake.create = [](const auto&, auto*) { return InitFailed(2); };
  c.fake.update = [](const auto&, auto*) { return InitFailed(13); };
  c.fake.read = [](const auto&, auto*) { return InitFailed(3); };
  CreateRequest create;
  create.urn = kUrn;
  const Result<CreateResponse> created = Await(c.loop, c.client->Create(create, {}));
  REQUIRE(created->id == "half");
  REQUIRE(created->init_errors == Names{"first", "second"});
  REQUIRE(created->outputs == PropertyMap{{"k", PropertyValue("v")}});
  UpdateRequest update;
  update.urn = kUrn;
  REQUIRE(Await(c.loop, c.client->Update(update, {}))->init_errors.size() == 2);
  ReadRequest read;
  read.urn = kUrn;
  const Result<ReadResponse> got = Await(c.loop, c.client->Read(read, {}));
  REQUIRE(got->init_errors.size() == 2);
  REQUIRE(got->inputs->contains("i"));
  REQUIRE(got->outputs->contains("k"));
}

TEST_CASE("P77 large details fit into the trailer") {
  Connection c;
  c.Handshake();
  const std::string large(2'000'000, 'x');
  c.fake.create = [&](const auto&, auto*) {
    RpcStatus status{.code = RpcCode::kUnknown, .message = "m", .details = {}};
    rpc::ErrorResourceInitFailed failed;
    failed.set_id("half");
    failed.add_reasons(large);
    AddDetail(failed, &status);
    return FakeStatus{2, status.message, status.details};
  };
  CreateRequest create;
  create.urn = kUrn;
  const Result<CreateResponse> created = Await(c.loop, c.client->Create(create, {}));
  REQUIRE(created);
  REQUIRE(created->init_errors.front() == large);
}

TEST_CASE("P75, P76 kinds of errors by code and call, and the attached cause") {
  Connection c;
  c.Handshake();
  FakeStatus status;
  c.fake.create = [&](const auto&, auto*) { return status; };
  c.fake.update = [&](const auto&, auto*) { return status; };
  c.fake.delete_ = [&](const auto&, auto*) { return status; };
  c.fake.read = [&](const auto&, auto*) { return status; };
  const auto create = [&] {
    return Await(c.loop, c.client->Create(CreateRequest{.urn = kUrn}, {})).error();
  };
  const auto update = [&] {
    return Await(c.loop, c.client->Update(UpdateRequest{.urn = kUrn}, {})).error();
  };
  const auto remove = [&] {
    return Await(c.loop, c.client->Delete(DeleteRequest{.urn = kUrn}, {})).error();
  };
  const auto read = [&] {
    return Await(c.loop, c.client->Read(ReadRequest{.urn = kUrn}, {})).error();
  };
  for (const int code : {2, 13, 15}) {
    status = FakeStatus{code, "m", {}};
    REQUIRE(create().kind == ErrorKind::kFailed);  // [Q]
    REQUIRE(update().kind == ErrorKind::kOutcomeUnknown);
    REQUIRE(remove().kind == ErrorKind::kOutcomeUnknown);
    REQUIRE(read().kind == ErrorKind::kOutcomeUnknown);
  }
  for (const int code : {3, 4, 5, 6, 7, 8, 9, 10, 11, 16}) {
    status = FakeStatus{code, "m", {}};
    REQUIRE(update().kind == ErrorKind::kFailed);
  }
  status = FakeStatus{14, "gone", {}};
  REQUIRE(update().kind == ErrorKind::kUnavailable);
  status = FakeStatus{1, "stop", {}};
  REQUIRE(update().kind == ErrorKind::kCancelled);
  status = FakeStatus{12, "no", {}};
  REQUIRE(update().kind == ErrorKind::kUnimplemented);
  REQUIRE(update().urn == kUrn.text());

  RpcStatus rich{.code = RpcCode::kUnknown, .message = "it failed", .details = {}};
  rpc::ErrorCause cause;
  cause.set_message("the disk is full");
  AddDetail(cause, &rich);
  status = FakeStatus{2, rich.message, rich.details};
  REQUIRE(create().message == "it failed: the disk is full");
}

TEST_CASE(
    "P81 Read: an import sends no inputs and empty properties, a refresh the inputs there are") {
  Connection c;
  c.Handshake();
  rpc::ReadRequest seen;
  c.fake.read = [&](const rpc::ReadRequest& request, rpc::ReadResponse* response) {
    seen = request;
    response->set_id(request.id());
    return FakeStatus();
  };
  ReadRequest request;
  request.urn = kUrn;
  request.id = "i";
  request.send_inputs = false;
  Result<ReadResponse> response = Await(c.loop, c.client->Read(request, {}));
  REQUIRE(FieldsOf(seen) == Names{"id", "name", "properties", "type", "urn"});
  REQUIRE(!response->outputs);
  REQUIRE(!response->inputs);
  request.send_inputs = true;
  REQUIRE(Await(c.loop, c.client->Read(request, {})));
  REQUIRE(FieldsOf(seen) == Names{"id", "name", "properties", "type", "urn"});  // none, so not sent
  request.inputs["a"] = 1;
  REQUIRE(Await(c.loop, c.client->Read(request, {})));
  REQUIRE(FieldsOf(seen) == Names{"id", "inputs", "name", "properties", "type", "urn"});
}

TEST_CASE("P67 B105 assets that come back without content are refilled") {
  Connection c;
  c.Handshake();
  c.fake.read = [](const rpc::ReadRequest& request, rpc::ReadResponse* response) {
    response->set_id("i");
    *response->mutable_inputs() = request.inputs();  // which carry no contents
    *response->mutable_properties() = request.inputs();
    return FakeStatus();
  };
  Asset asset;
  asset.source = Asset::Source::kPath;
  asset.content = "./file";
  asset.hash = "abc";
  Archive archive;
  archive.source = Archive::Source::kAssets;
  archive.assets = std::make_shared<const PropertyMap>(PropertyMap{{"f", PropertyValue(asset)}});
  archive.hash = "def";
  ReadRequest request;
  request.urn = kUrn;
  request.inputs = {{"a", PropertyValue(PropertyList{PropertyValue(asset)})},
                    {"z", PropertyValue(archive)}};
  const Result<ReadResponse> response = Await(c.loop, c.client->Read(request, {}));
  REQUIRE(response->inputs->at("a").as_list()->front().as_asset()->content == "./file");
  REQUIRE(response->outputs->at("z").as_archive()->assets->size() == 1);
}

TEST_CASE("P69 Update and Delete: which structs are sent") {
  Connection c;
  c.Handshake();
  rpc::UpdateRequest update_seen;
  rpc::DeleteRequest delete_seen;
  c.fake.update = [&](const rpc::UpdateRequest& request, rpc::UpdateResponse*) {
    update_seen = request;
    return FakeStatus();
  };
  c.fake.delete_ = [&](const rpc::DeleteRequest& request, auto*) {
    delete_seen = request;
    return FakeStatus();
  };
  UpdateRequest update;
  update.urn = kUrn;
  update.id = "i";
  update.status_token = "t";
  const Result<UpdateResponse> updated = Await(c.loop, c.client->Update(update, {}));
  REQUIRE(updated);
  REQUIRE(updated->outputs.empty());
  REQUIRE(FieldsOf(update_seen) == Names{"id",
                                         "name",
                                         "news",
                                         "old_inputs",
                                         "olds",
                                         "resource_status_address",
                                         "resource_status_token",
                                         "type",
                                         "urn"});
  DeleteRequest remove;
  remove.urn = kUrn;
  remove.id = "i";
  REQUIRE(Await(c.loop, c.client->Delete(remove, {})));
  REQUIRE(FieldsOf(delete_seen) == Names{"id", "name", "old_inputs", "properties", "type", "urn"});
}

TEST_CASE(
    "P69 results of an Invoke with secret arguments are secret when the plugin does not keep "
    "them") {
  Connection c;
  c.Handshake(false);
  c.fake.invoke = [](const rpc::InvokeRequest& request, rpc::InvokeResponse* response) {
    *response->mutable_return_() = request.args();
    return FakeStatus();
  };
  InvokeRequest request;
  request.token = "pkg:index:f";
  request.args = {{"a", PropertyValue(1)}};
  REQUIRE(!Await(c.loop, c.client->Invoke(request, {}))->result.at("a").is_secret());
  request.args["s"] = MakeSecret(PropertyValue(2));
  REQUIRE(Await(c.loop, c.client->Invoke(request, {}))->result.at("a").is_secret());
}

}  // namespace
}  // namespace davit::testing
