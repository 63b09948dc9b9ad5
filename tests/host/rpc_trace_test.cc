// The gRPC log: form of a line, canonical JSON, and hidden secrets (P120-P123).

#include "host/wire/rpc_trace.h"

#include "pulumirpc/provider.pb.h"
#include "tests/host/host_fixture.h"
#include "tests/support/seeded_loop.h"

namespace davit::testing {
namespace {

namespace rpc = pulumirpc;

constexpr const char* kSignature = "4dabf18193072939515e22adb298388d";

void SetSecret(google::protobuf::Value* value, const std::string& text) {
  auto* fields = value->mutable_struct_value()->mutable_fields();
  (*fields)[kSignature].set_string_value("1b47061264138c4ac30d75fd1eb44270");
  (*fields)["value"].set_string_value(text);
}

TEST_CASE("P120 messages are canonical JSON with sorted maps and escaped markup") {
  rpc::CheckRequest request;
  request.set_urn("a<&>b\"\n\x01");
  auto* fields = request.mutable_news()->mutable_fields();
  (*fields)["z"].set_number_value(3);
  (*fields)["b"].set_bool_value(false);
  (*fields)["n"].set_null_value({});
  (*fields)["l"].mutable_list_value()->add_values()->set_number_value(0.5);
  (*fields)["inf"].set_number_value(std::numeric_limits<double>::infinity());
  request.mutable_olds();
  request.set_randomseed("\x01\x02");
  REQUIRE(MessageJson(request, false, nullptr) ==
          "{\"urn\":\"a\\u003c\\u0026\\u003eb\\\"\\n\\u0001\",\"olds\":{},"
          "\"news\":{\"b\":false,\"inf\":\"Infinity\",\"l\":[0.5],\"n\":null,\"z\":3},"
          "\"randomSeed\":\"AQI=\"}");
  rpc::DiffResponse response;
  response.set_changes(rpc::DiffResponse::DIFF_SOME);
  (*response.mutable_detaileddiff())["p"].set_kind(rpc::PropertyDiff::UPDATE);
  response.add_replaces("p");
  REQUIRE(MessageJson(response, false, nullptr) ==
          "{\"replaces\":[\"p\"],\"changes\":\"DIFF_SOME\",\"detailedDiff\":{\"p\":{\"kind\":"
          "\"UPDATE\"}}}");
  rpc::ListRequest list;
  list.set_limit(7);
  REQUIRE(MessageJson(list, false, nullptr) == "{\"limit\":\"7\"}");
}

TEST_CASE("secrets are hidden in the log, marked or bare, unless asked otherwise") {
  rpc::CreateRequest request;
  auto* fields = request.mutable_properties()->mutable_fields();
  SetSecret(&(*fields)["marked"], "hunter2");
  (*fields)["bare"].set_string_value("hunter2");
  (*fields)["part"].set_string_value("password=hunter2;");
  (*fields)["number"].set_number_value(4711);
  (*fields)["open"].set_string_value("shown");
  HiddenTexts secrets;
  secrets.Add({{"x",
                MakeSecret(PropertyValue(
                    PropertyMap{{"k", PropertyValue("hunter2")}, {"n", PropertyValue(4711)}}))},
               {"y", PropertyValue("shown")}});
  const std::string hidden = MessageJson(request, false, &secrets);
  REQUIRE(hidden.find("hunter2") == std::string::npos);
  REQUIRE(hidden.find("4711") == std::string::npos);
  RequireContains(hidden, "\"open\":\"shown\"");
  RequireContains(hidden, "\"value\":\"[secret]\"");
  RequireContains(MessageJson(request, true, &secrets), "password=hunter2;");
}

TEST_CASE("a secret output value is hidden, too") {
  rpc::CallResponse response;
  auto* fields =
      (*response.mutable_return_()->mutable_fields())["o"].mutable_struct_value()->mutable_fields();
  (*fields)[kSignature].set_string_value("d0e6a833031e9bbcd3f4e8bde6ca49a4");
  (*fields)["value"].set_string_value("hunter2");
  (*fields)["secret"].set_bool_value(true);
  REQUIRE(MessageJson(response, false, nullptr).find("hunter2") == std::string::npos);
}

TEST_CASE("a deep message does not stop the log") {
  rpc::CreateRequest request;
  auto* value = &(*request.mutable_properties()->mutable_fields())["k"];
  for (int level = 0; level < 1000; ++level) {
    value = value->mutable_list_value()->add_values();
  }
  value->set_number_value(1);
  REQUIRE(MessageJson(request, false, nullptr).size() > 2000);
}

TEST_CASE("P120, P121, P123 the lines of one call") {
  const TempFolder folder;
  const SeededLoop loop;
  auto trace = MakeFileTrace(loop, folder.path("grpc.json"), false, nullptr);
  rpc::CreateRequest request;
  request.set_urn("u");
  const std::vector<std::pair<std::string, std::string>> metadata = {{"kind", "resource"},
                                                                     {"mode", "client"}};
  RpcRecord record;
  record.method = "/pulumirpc.ResourceProvider/Create";
  record.request = &request;
  record.metadata = &metadata;
  record.progress = "request_started";
  trace->Write(record);
  const RpcStatus status{.code = RpcCode::kNotFound, .message = "gone", .details = {}};
  record.progress = "response_completed";
  record.status = &status;
  record.duration = std::chrono::nanoseconds(42);
  trace->Write(record);
  const std::string text = folder.Read("grpc.json");
  const std::string stamp = text.substr(text.find("\"timestamp\""), 44);
  RequireContains(stamp, "Z\"");
  const std::string common =
      "{\"method\":\"/pulumirpc.ResourceProvider/Create\",\"request\":{\"urn\":\"u\"},";
  const std::string meta = "\"metadata\":{\"kind\":\"resource\",\"mode\":\"client\"},";
  const std::string first = common + meta + "\"progress\":\"request_started\"," + stamp + "}\n";
  REQUIRE(text.substr(0, first.size()) == first);
  const std::string rest = text.substr(first.size());
  REQUIRE(rest == common + "\"errors\":[\"rpc error: code = NotFound desc = gone\"]," + meta +
                      "\"progress\":\"response_completed\"," + stamp + ",\"duration\":42}\n");
  struct stat info {};
  REQUIRE(::stat(folder.path("grpc.json").c_str(), &info) == 0);
  REQUIRE((info.st_mode & 0777) == 0600);
}

TEST_CASE("a log that cannot be written is reported once") {
  const SeededLoop loop;
  std::vector<std::string> warnings;
  auto trace = MakeFileTrace(
      loop, "/nowhere/grpc.json", false, [&](std::string warning) { warnings.push_back(warning); });
  RpcRecord record;
  record.method = "/a/b";
  trace->Write(record);
  trace->Write(record);
  REQUIRE(warnings.size() == 1);
  RequireContains(warnings.front(), "/nowhere/grpc.json");
}

}  // namespace
}  // namespace davit::testing
