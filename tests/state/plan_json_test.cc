// Update plans as files (C18, E198).
#include "state/codec/plan_json.h"

#include <catch2/catch.hpp>

#include "tests/state/state_fakes.h"

namespace davit::testing {
namespace {

Result<PlanDocument> Read(const std::string& text) {
  SecretTexts texts;
  const auto manager = std::make_shared<FakeManager>();
  DocumentSecrets document(OpenerOf(manager));
  document.Set("passphrase", manager->state_json());
  const PropertyReading reading{SecretsIn::kOpen, &texts, &document};
  return ReadPlan(text, reading);
}

std::string Write(const PlanDocument& document) {
  SecretTexts texts;
  FakeManager manager;
  PropertyWriting writing;
  writing.texts = &texts;
  writing.manager = &manager;
  writing.manager_id = ManagerId("passphrase", manager.state_json());
  Result<std::string> text = WritePlan(document, std::move(writing));
  REQUIRE(text);
  return *text;
}

std::string Fault(const std::string& text) {
  const Result<PlanDocument> read = Read(text);
  return read ? "no error" : read.error().message;
}

}  // namespace

TEST_CASE("[C18] [E198] a plan of the reference is read, and written again byte for byte") {
  const std::string text = ReadBytes(GoldenPath("plan.json"));
  const Result<PlanDocument> read = Read(text);
  INFO((read ? "" : read.error().message));
  REQUIRE(read);
  CHECK(read->plan.resources.size() == 16);
  CHECK(Write(*read) == text);
}

TEST_CASE("[E198] secrets of a plan are encrypted") {
  PlanDocument document;
  document.version = "v1";
  const Urn urn = Urn::Make("dev", "proj", Urn(), "test:index:Thing", "a");
  ResourcePlan& entry = document.plan.resources[urn];
  entry.goal.emplace();
  const PropertyMap secret = {{"token", PropertyList{MakeSecret("CANARY")}}};
  entry.goal->input_diff.adds = secret;
  entry.goal->input_diff.updates = secret;
  entry.goal->output_diff.adds = secret;
  entry.outputs = secret;
  const std::string text = Write(document);
  CHECK(text.find("CANARY") == std::string::npos);
  const Result<PlanDocument> read = Read(text);
  REQUIRE(read);
  CHECK(read->plan.resources.at(urn).goal->input_diff.adds == secret);
  CHECK(read->plan.resources.at(urn).outputs == secret);
}

TEST_CASE("[E198] what is no plan, or has parts that davit cannot hold a run to, is refused") {
  const std::string head = "{\"manifest\":{},\"resourcePlans\":{\"urn:pulumi:d::p::t:i:T::a\":";
  CHECK(Fault(head + "{\"steps\":[\"create\"],\"state\":null}}}") == "no error");
  CHECK(Fault("") != "no error");
  CHECK(Fault("{}").find("'manifest' is missing") != std::string::npos);
  CHECK(Fault("{\"version\":3,\"checkpoint\":{}}").find("'version' is not known") !=
        std::string::npos);
  CHECK(Fault(head + "{\"steps\":[\"frob\"]}}}").find("'frob' is no step") != std::string::npos);
  CHECK(Fault(head + "{\"seed\":\"*\"}}}").find("base64") != std::string::npos);
  CHECK(Fault(head + "{\"goal\":{\"new\":1}}}}").find("'new' is not known") != std::string::npos);
  CHECK(Fault(head + "{}}").find("no error") == std::string::npos);
  CHECK(Fault("{\"manifest\":{},\"resourcePlans\":{\"x\":{}}}") != "no error");
}

}  // namespace davit::testing
