#include "engine/model/urn.h"

#include <catch2/catch.hpp>

#include "engine/model/provider_ref.h"

namespace davit {
namespace {

TEST_CASE("E41 S23 a URN has four parts, the last of which may hold separators") {
  const Result<Urn> urn = Urn::Parse("urn:pulumi:dev::proj::a:b:C$d:e:F::x::y z::");
  REQUIRE(urn);
  CHECK(urn->stack() == "dev");
  CHECK(urn->project() == "proj");
  CHECK(urn->qualified_type() == "a:b:C$d:e:F");
  CHECK(urn->type() == "d:e:F");
  CHECK(urn->name() == "x::y z::");
  CHECK_FALSE(urn->is_root_stack());
  CHECK_FALSE(urn->is_provider());
}

TEST_CASE("E41 malformed URNs are refused") {
  for (const char* text : {"", "urn:other:a::b::c::d", "urn:pulumi:a::b::c", "urn:pulumi:", "x"}) {
    const Result<Urn> urn = Urn::Parse(text);
    REQUIRE_FALSE(urn);
    CHECK(urn.error().kind == ErrorKind::kInvalid);
    CHECK(urn.error().message.find("malformed URN") == 0);
  }
  CHECK(Urn::Parse("urn:pulumi:::::::"));
}

TEST_CASE("E41 the parent's types qualify the own type, the root stack's do not") {
  const Urn root = Urn::Make("dev", "p", {}, kRootStackType, "p-dev");
  CHECK(root.text() == "urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev");
  CHECK(root.is_root_stack());
  const Urn outer = Urn::Make("dev", "p", root, "a:b:C", "outer");
  CHECK(outer.text() == "urn:pulumi:dev::p::a:b:C::outer");
  const Urn inner = Urn::Make("dev", "p", outer, "d:e:F", "in::ner");
  CHECK(inner.text() == "urn:pulumi:dev::p::a:b:C$d:e:F::in::ner");
  CHECK(Urn::Parse(inner.text()).value() == inner);
}

TEST_CASE("parts of an empty or foreign URN are empty") {
  CHECK(Urn().empty());
  CHECK(Urn().type().empty());
  CHECK(Urn::Trusted("nonsense").name().empty());
  CHECK(Urn::Trusted("urn:pulumi:dev::p").qualified_type().empty());
  CHECK(Urn::Trusted("urn:pulumi:dev::p").project() == "p");
}

TEST_CASE("packages of type tokens") {
  CHECK(PackageOf("aws:s3/bucket:Bucket") == "aws");
  CHECK(PackageOf("random:Thing") == "random");
  CHECK(PackageOf("pulumi:providers:aws") == "aws");
  CHECK(PackageOf("pulumi:pulumi:Stack") == "pulumi");
  CHECK(PackageOf("plain").empty());
}

TEST_CASE("E159 S25 provider references are split at the last separator") {
  const std::string text = "urn:pulumi:dev::p::pulumi:providers:aws::default_1_2_3::some-id";
  const Result<ProviderRef> reference = ProviderRef::Parse(text);
  REQUIRE(reference);
  CHECK(reference->urn.name() == "default_1_2_3");
  CHECK(reference->id == "some-id");
  CHECK(reference->package() == "aws");
  CHECK(reference->is_default());
  CHECK(reference->Text() == text);

  const Result<ProviderRef> odd =
      ProviderRef::Parse("urn:pulumi:dev::p::x:y:Z$pulumi:providers:k8s::my::prov::");
  REQUIRE(odd);
  CHECK(odd->urn.name() == "my::prov");
  CHECK(odd->id.empty());
  CHECK_FALSE(odd->is_default());
}

TEST_CASE("E159 what names no provider is no reference") {
  for (const char* text : {"",
                           "id",
                           "urn:pulumi:dev::p::pulumi:providers:aws::name",
                           "urn:pulumi:dev::p::aws:s3:Bucket::name::id"}) {
    const Result<ProviderRef> reference = ProviderRef::Parse(text);
    REQUIRE_FALSE(reference);
    CHECK(reference.error().message.find("malformed provider reference") == 0);
  }
}

}  // namespace
}  // namespace davit
