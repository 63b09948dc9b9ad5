// Values in state files (S46-S60).
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <random>

#include "tests/state/state_fakes.h"

namespace davit::testing {
namespace {

std::string Write(const PropertyValue& value,
                  SecretTexts* texts,
                  SecretsManager* manager,
                  SecretsOut secrets = SecretsOut::kEncrypted) {
  PropertyWriting writing;
  writing.secrets = secrets;
  writing.texts = texts;
  writing.manager = manager;
  writing.manager_id = ManagerId("passphrase", "{\"salt\":\"salt\"}");
  std::string out;
  WriteProperty(value, writing, &out);
  return writing.error ? "error: " + writing.error->message : out;
}

std::string Write(const PropertyValue& value) {
  SecretTexts texts;
  FakeManager manager;
  return Write(value, &texts, &manager);
}

struct Reader {
  SecretTexts texts;
  std::shared_ptr<FakeManager> manager = std::make_shared<FakeManager>();
  std::string error;
  PropertyValue Read(const std::string& json) {
    DocumentSecrets document(OpenerOf(manager));
    document.Set("passphrase", manager->state_json());
    PropertyReading reading{SecretsIn::kOpen, &texts, &document};
    JsonReader reader(json);
    PropertyValue value = ReadProperty(reader, reading);
    reader.ExpectEnd();
    error = reader.failed() ? reader.error().message : "";
    return value;
  }
};

PropertyValue Read(const std::string& json) {
  Reader reader;
  PropertyValue value = reader.Read(json);
  INFO(json);
  INFO(reader.error);
  REQUIRE(reader.error.empty());
  return value;
}

std::string Fault(const std::string& json) {
  Reader reader;
  reader.Read(json);
  return reader.error;
}

std::string Marked(const std::string& signature, const std::string& rest) {
  return "{\"4dabf18193072939515e22adb298388d\":\"" + signature + "\"" +
         (rest.empty() ? "" : "," + rest) + "}";
}
const std::string kSecretMark = "1b47061264138c4ac30d75fd1eb44270";

// A value of any kind; secrets, unknowns and outputs only where asked for.
PropertyValue Generate(std::mt19937& random, int depth) {
  const auto pick = [&](int count) {
    return static_cast<int>(random() % static_cast<unsigned>(count));
  };
  const auto text = [&] {
    static const char* const kTexts[] = {
        "", "a", "é😃", "<&>", "line\nbreak", "\xE2\x80\xA8", "\xff\xfe raw", "\"\\/", "null"};
    return std::string(kTexts[pick(9)]);
  };
  switch (pick(depth > 0 ? 11 : 7)) {
    case 0:
      return Null();
    case 1:
      return pick(2) == 0;
    case 2: {
      static const double kNumbers[] = {
          0.0, -0.0, 1, 1.5, 1e21, 1e-7, 5e-324, 123456789012345680.0, -3e300};
      return kNumbers[pick(9)];
    }
    case 3:
      return text();
    case 4: {
      Asset asset;
      asset.source = pick(2) == 0 ? Asset::Source::kText : Asset::Source::kUri;
      asset.content = "content é<" + std::to_string(pick(9));
      return asset;
    }
    case 5: {
      ResourceReference reference;
      reference.urn = "urn:pulumi:dev::proj::a:b:C::x";
      reference.name = "x";
      reference.type = "a:b:C";
      if (pick(2) == 0) {
        reference.id = "id";
      }
      return reference;
    }
    case 6:
      return Unknown();
    case 7: {
      PropertyList list;
      for (int count = pick(4); count > 0; --count) {
        list.push_back(Generate(random, depth - 1));
      }
      return list;
    }
    case 8:
    case 9: {
      PropertyMap map;
      for (int count = pick(4); count > 0; --count) {
        map["k" + std::to_string(pick(10)) + (pick(3) == 0 ? "é<" : "")] =
            Generate(random, depth - 1);
      }
      return map;
    }
    default:
      return MakeSecret(Generate(random, depth - 1));
  }
}

}  // namespace

TEST_CASE("[S46] plain values map to plain JSON, keys sorted bytewise") {
  const PropertyValue value = PropertyMap{{"b", PropertyList{1, 1.5, 1e21, Null(), true, "<&>"}},
                                          {"B", PropertyMap{}},
                                          {"é", PropertyList{}},
                                          {"", "x"}};
  const std::string json = R"({"":"x","B":{},"b":[1,1.5,1e+21,null,true,"<&>"],"é":[]})";
  CHECK(Write(value) == json);
  CHECK(Read(json) == value);
}

TEST_CASE("[S47] an unknown signature fails by name") {
  CHECK_THAT(Fault(Marked("d0e6a833031e9bbcd3f4e8bde6ca49a4", "")),
             Catch::Contains("d0e6a833031e9bbcd3f4e8bde6ca49a4"));
  CHECK_THAT(Fault(R"({"4dabf18193072939515e22adb298388d":7})"),
             Catch::Contains("unknown signature"));
}

TEST_CASE("[S48] [S49] a secret holds the HTML-escaped JSON text of its value") {
  Reader reader;
  CHECK(Write(MakeSecret("pa\"ss<&>"), &reader.texts, reader.manager.get()) ==
        Marked(kSecretMark,
               "\"ciphertext\":\"salt:1:" + EncodeBase64(R"("pa\"ss\u003c\u0026\u003e")") + "\""));
  CHECK(reader.Read(Marked(kSecretMark,
                           R"("ciphertext":"salt:9:)" + EncodeBase64(" { \"a\" : 1 } ") + "\"")) ==
        MakeSecret(PropertyMap{{"a", 1}}));
  CHECK(Read(Marked(kSecretMark, R"("plaintext":"\"hunter2\"")")) == MakeSecret("hunter2"));
}

TEST_CASE("[S48] a secret has exactly one non-empty text") {
  for (const char* rest : {"",
                           R"("ciphertext":"")",
                           R"("plaintext":"1","ciphertext":"salt:1:MQ==")",
                           R"("ciphertext":5)"}) {
    CHECK_THAT(Fault(Marked(kSecretMark, rest)),
               Catch::Contains("either a ciphertext or a plaintext"));
  }
  const std::string not_json = Fault(Marked(kSecretMark, R"("plaintext":"hunter2")"));
  CHECK_THAT(not_json, Catch::Contains("not JSON"));
  CHECK_THAT(not_json, !Catch::Contains("hunter2"));
}

TEST_CASE("[S50] a secret inside a secret is plain JSON text there") {
  const PropertyValue value = MakeSecret(PropertyMap{{"in", MakeSecret("<x>")}});
  Reader reader;
  const std::string json = Write(value, &reader.texts, reader.manager.get());
  CHECK(reader.manager->encrypted == 1);
  CHECK_THAT(json,
             Catch::Contains(EncodeBase64(
                 "{\"in\":" + Marked(kSecretMark, R"("ciphertext":"\"\\u003cx\\u003e\"")") + "}")));
  CHECK(reader.Read(json) == value);
}

TEST_CASE("[S51] with secrets shown there is plaintext") {
  SecretTexts texts;
  CHECK(Write(MakeSecret(7), &texts, nullptr, SecretsOut::kPlaintext) ==
        Marked(kSecretMark, R"("plaintext":"7")"));
}

TEST_CASE("[S52] [S53] unknowns are a text, outputs are flattened") {
  const std::string sentinel = "\"04da6b54-80e4-46f7-96ec-b56ff0331ba9\"";
  CHECK(Write(Unknown()) == sentinel);
  CHECK(Read(sentinel).is_unknown());
  CHECK(Write(Output()) == sentinel);
  Output output{std::make_shared<const PropertyValue>(5), false, {"urn"}};
  CHECK(Write(output) == "5");
  output.is_secret = true;
  CHECK(Read(Write(output)) == MakeSecret(5));
}

TEST_CASE("[S54] [S55] raw bytes and special numbers are marked") {
  const std::string raw("\xff\0x", 3);
  const std::string json = Marked("803fd3297a5875dc03ca845dda5d2a98", R"("value":"/wB4")");
  CHECK(Write(raw) == json);
  CHECK(Read(json) == PropertyValue(raw));
  CHECK_THAT(Fault(Marked("803fd3297a5875dc03ca845dda5d2a98", R"("value":"*")")),
             Catch::Contains("base64"));
  const std::string infinity =
      Marked("8ad145fe-0d11-4827-bfd7-1abcbf086f5c", R"("value":"7ff0000000000000")");
  CHECK(Write(std::numeric_limits<double>::infinity()) == infinity);
  CHECK(Read(infinity) == PropertyValue(std::numeric_limits<double>::infinity()));
  CHECK(std::isnan(*Read(Write(std::nan(""))).as_number()));
  CHECK_THAT(Fault(Marked("8ad145fe-0d11-4827-bfd7-1abcbf086f5c", R"("value":"7ff")")),
             Catch::Contains("16"));
}

TEST_CASE("[S10] [S54] raw bytes need the feature, even inside a secret whose ciphertext is kept") {
  Reader reader;
  const PropertyValue secret = MakeSecret(std::string("\xff"));
  const std::string json = Write(secret, &reader.texts, reader.manager.get());
  const PropertyValue read = reader.Read(json);
  PropertyWriting writing;
  writing.texts = &reader.texts;
  writing.manager_id = ManagerId("passphrase", reader.manager->state_json());
  std::string out;
  WriteProperty(read, writing, &out);
  CHECK(out == json);
  CHECK(writing.features == std::set<std::string>{"byteString"});
}

TEST_CASE("[S56] assets") {
  Asset asset;
  asset.source = Asset::Source::kText;
  asset.content = "content";
  asset.hash = "ed70";
  const std::string json =
      Marked("c44067f5952c0a294b673a41bacd8c17", R"("hash":"ed70","text":"content")");
  CHECK(Write(asset) == json);
  CHECK(Read(json).as_asset()->content == "content");
  Asset path;
  path.source = Asset::Source::kPath;
  path.content = "./f";
  CHECK(Write(path) == Marked("c44067f5952c0a294b673a41bacd8c17", R"("path":"./f")"));
  // An empty text is known by its hash only.
  const PropertyValue empty =
      Read(Marked("c44067f5952c0a294b673a41bacd8c17",
                  R"("hash":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")"));
  CHECK(empty.as_asset()->source == Asset::Source::kText);
  const PropertyValue placeholder =
      Read(Marked("c44067f5952c0a294b673a41bacd8c17", R"("hash":"ab")"));
  CHECK(placeholder.as_asset()->source == Asset::Source::kNone);
}

TEST_CASE("[S57] archives, with members") {
  Asset asset;
  asset.source = Asset::Source::kUri;
  asset.content = "https://x";
  Archive archive;
  archive.source = Archive::Source::kAssets;
  archive.assets = std::make_shared<const PropertyMap>(PropertyMap{{"m", asset}});
  const std::string json = Marked(
      "0def7320c3a5731c473e5ecbe6d01bc7",
      "\"assets\":{\"m\":" + Marked("c44067f5952c0a294b673a41bacd8c17", R"("uri":"https://x")") +
          "}");
  CHECK(Write(archive) == json);
  CHECK(Read(json) == PropertyValue(archive));
  Archive path;
  path.source = Archive::Source::kPath;
  path.location = "dir";
  path.hash = "h";
  CHECK(Write(path) == Marked("0def7320c3a5731c473e5ecbe6d01bc7", R"("hash":"h","path":"dir")"));
}

TEST_CASE("[S58] resource references, and what an old bug left") {
  const std::string mark = "5cf8f73096256a8f31e491e813e4eb8e";
  ResourceReference reference;
  reference.urn = "urn:x";
  CHECK(Write(reference) == Marked(mark, R"("packageVersion":"","urn":"urn:x")"));
  reference.id = "";
  CHECK(Write(reference) == Marked(mark, R"("id":"","packageVersion":"","urn":"urn:x")"));
  const auto id = [&](const std::string& json) {
    return Read(Marked(mark, "\"id\":" + json + R"(,"packageVersion":"1","urn":"urn:x")"))
        .as_reference()
        ->id;
  };
  CHECK(id("\"i\"") == "i");
  CHECK(id("{\"V\":null}") == std::nullopt);
  CHECK(id("{\"V\":\"i\"}") == "i");
  CHECK(id("{\"V\":{}}") == "");
  CHECK_THAT(Fault(Marked(mark, "")), Catch::Contains("no URN"));
}

TEST_CASE("[W13] an unchanged secret keeps its ciphertext while the manager is the same") {
  Reader reader;
  const std::string json =
      Marked(kSecretMark, R"("ciphertext":"salt:42:)" + EncodeBase64("\"x\"") + "\"");
  const PropertyValue value = reader.Read(json);
  CHECK(Write(value, &reader.texts, nullptr) == json);
  CHECK(Write(PropertyValue(value), &reader.texts, reader.manager.get()) == json);
  PropertyWriting other;
  FakeManager manager("other");
  other.texts = &reader.texts;
  other.manager = &manager;
  other.manager_id = ManagerId("passphrase", manager.state_json());
  std::string out;
  WriteProperty(value, other, &out);
  CHECK_THAT(out, Catch::Contains("other:1:"));
  // Another value of the same content is not the same secret.
  CHECK_THAT(Write(MakeSecret("x"), &reader.texts, reader.manager.get()),
             Catch::Contains("salt:1:"));
}

TEST_CASE("a secret without a manager is refused with the names of both variables") {
  SecretTexts texts;
  PropertyWriting writing;
  writing.texts = &texts;
  std::string out;
  WriteProperty(MakeSecret("hunter2"), writing, &out);
  REQUIRE(writing.error);
  CHECK(writing.error->kind == ErrorKind::kRefused);
  CHECK_THAT(writing.error->Text(),
             Catch::Contains("PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE"));
  CHECK_THAT(out + writing.error->Text(), !Catch::Contains("hunter2"));
}

TEST_CASE("deep values are written and read; too deep ones are errors") {
  const auto nested = [](int depth) {
    PropertyValue value = 1;
    for (; depth > 0; --depth) {
      value = PropertyList{value};
    }
    return value;
  };
  const std::string json = Write(nested(kMaxValueDepth));
  CHECK(Write(Read(json)) == json);
  CHECK_THAT(Write(nested(kMaxValueDepth + 1)), Catch::Contains("too deep"));
  CHECK_THAT(Fault(std::string(100'000, '[')), Catch::Contains("too deep"));
  std::string objects;
  for (int depth = 0; depth < 100'000; ++depth) {
    objects += "{\"a\":";
  }
  CHECK_THAT(Fault(objects), Catch::Contains("too deep"));
}

TEST_CASE("generated values survive a round trip") {
  std::mt19937 random(20261130);
  for (int round = 0; round < 3000; ++round) {
    const PropertyValue value = Generate(random, 4);
    Reader reader;
    const std::string json = Write(value, &reader.texts, reader.manager.get());
    INFO(json);
    const PropertyValue read = reader.Read(json);
    REQUIRE(reader.error.empty());
    REQUIRE(read == value);
    REQUIRE(Write(read, &reader.texts, nullptr) == json);
  }
}

TEST_CASE("damaged text never crashes the reader") {
  std::mt19937 random(7);
  const std::string json =
      Write(PropertyMap{{"a", PropertyList{1, "x\n", MakeSecret(PropertyMap{{"b", 2}})}},
                        {"c", std::string("\xff")}});
  for (int round = 0; round < 5000; ++round) {
    std::string damaged = json;
    for (int hits = 1 + static_cast<int>(random() % 3); hits > 0; --hits) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    damaged.resize(random() % 2 == 0 ? damaged.size() : random() % damaged.size());
    Fault(damaged);
  }
}

}  // namespace davit::testing
