// The passphrase manager against the vectors of docs/spec/vectors (S61-S67, S82, S83).
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cstdlib>

#include "engine/base/digest.h"
#include "tests/state/state_fakes.h"

namespace davit::testing {
namespace {

const nlohmann::json& Vectors() {
  static const nlohmann::json kVectors = nlohmann::json::parse(
      ReadBytes(std::string(DAVIT_SOURCE_DIR) + "/docs/spec/vectors/passphrase.json"));
  return kVectors;
}

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(at, 2), nullptr, 16));
  }
  return bytes;
}

// Gives the bytes that a test sets.
struct FixedRandom {
  std::string next;
  RandomSource Source() {
    return [this](int) { return next; };
  }
};

struct Environment {
  ~Environment() {
    ::unsetenv("PULUMI_CONFIG_PASSPHRASE");
    ::unsetenv("PULUMI_CONFIG_PASSPHRASE_FILE");
  }
};

}  // namespace

TEST_CASE(
    "[S83] every upstream and generated ciphertext opens, and generated ones come out byte for "
    "byte") {
  for (const char* group : {"upstream", "generated"}) {
    for (const nlohmann::json& set : Vectors().at(group)) {
      INFO(set.at("name"));
      FixedRandom random;
      Result<std::unique_ptr<SecretsManager>> manager =
          OpenPassphraseManager(set.at("state"), set.at("passphrase"), random.Source());
      REQUIRE(manager);
      for (const nlohmann::json& item : set.at("ciphertexts")) {
        const Result<std::string> plaintext = (*manager)->Decrypt(item.at("ciphertext"));
        REQUIRE(plaintext);
        CHECK(*plaintext == item.at("plaintext").get<std::string>());
        if (item.contains("nonce_hex")) {
          random.next = FromHex(item.at("nonce_hex"));
          const Result<std::string> ciphertext = (*manager)->Encrypt(item.at("plaintext"));
          REQUIRE(ciphertext);
          CHECK(*ciphertext == item.at("ciphertext").get<std::string>());
        }
      }
    }
  }
}

TEST_CASE("[S65] a wrong passphrase is refused, a malformed state is invalid") {
  for (const char* group : {"wrong_passphrase", "malformed_state"}) {
    for (const nlohmann::json& item : Vectors().at(group)) {
      INFO(item.at("state"));
      const Result<std::unique_ptr<SecretsManager>> manager =
          OpenPassphraseManager(item.at("state"), item.at("passphrase"), SystemRandom);
      REQUIRE_FALSE(manager);
      const std::string expect = item.at("expect");
      const std::string& message = manager.error().message;
      CHECK(manager.error().kind ==
            (expect == "incorrect-passphrase" ? ErrorKind::kRefused : ErrorKind::kInvalid));
      const std::map<std::string, std::string> words = {
          {"incorrect-passphrase", "incorrect passphrase"},
          {"malformed-state", "fewer than three parts"},
          {"unknown-state-version", "unknown version"},
          {"bad-salt-base64", "not base64"}};
      CHECK_THAT(message, Catch::Contains(words.at(expect)));
    }
  }
}

TEST_CASE("[S66] malformed values fail with their reason and without their text") {
  const nlohmann::json& group = Vectors().at("malformed_ciphertext");
  Result<std::unique_ptr<SecretsManager>> manager =
      OpenPassphraseManager(group.at("state"), group.at("passphrase"), SystemRandom);
  REQUIRE(manager);
  const std::map<std::string, std::string> words = {
      {"bad-value", "parts, not 3"},
      {"unknown-value-version", "version is not known"},
      {"bad-nonce-size", "nonce has 11 bytes"},
      {"bad-base64", "not base64"},
      {"auth-failure", "does not authenticate"}};
  for (const nlohmann::json& item : group.at("cases")) {
    const std::string expect = item.at("expect");
    INFO(item.at("why"));
    const Result<std::string> plaintext = (*manager)->Decrypt(item.at("ciphertext"));
    REQUIRE_FALSE(plaintext);
    // The reference cannot tell a truncated tag from damage when the base64 is no longer padded.
    if (item.at("why") != "tag truncated") {
      CHECK_THAT(plaintext.error().message, Catch::Contains(words.at(expect)));
    }
    CHECK_THAT(plaintext.error().Text(),
               !Catch::Contains(item.at("ciphertext").get<std::string>()));
  }
}

TEST_CASE("[S62] a new manager opens again with its state") {
  Result<std::unique_ptr<SecretsManager>> made = NewPassphraseManager("p", SystemRandom);
  REQUIRE(made);
  const Result<std::string> salt = SaltOf((*made)->state_json());
  REQUIRE(salt);
  CHECK((*made)->type() == "passphrase");
  CHECK(std::count(salt->begin(), salt->end(), ':') == 4);
  const Result<std::string> ciphertext = (*made)->Encrypt("text");
  REQUIRE(ciphertext);
  const Result<std::string> again = (*made)->Encrypt("text");
  CHECK(*ciphertext != *again);  // S71
  Result<std::unique_ptr<SecretsManager>> opened = OpenPassphraseManager(*salt, "p", SystemRandom);
  REQUIRE(opened);
  CHECK((*opened)->Decrypt(*ciphertext).value() == "text");
  CHECK_FALSE(SaltOf("{}"));
  CHECK_FALSE(SaltOf("{"));
}

TEST_CASE("[S15] [E3] the magic is the SHA-256 of the version") {
  for (const nlohmann::json& item : Vectors().at("magic")) {
    if (!item.at("version").get<std::string>().empty()) {
      CHECK(Sha256Hex(item.at("version").get<std::string>()) == item.at("magic").get<std::string>());
    }
  }
}

TEST_CASE("[S67] the passphrase comes from the variable, then from the file") {
  const Environment restore;
  const TemporaryFolder folder;
  ::unsetenv("PULUMI_CONFIG_PASSPHRASE");
  ::unsetenv("PULUMI_CONFIG_PASSPHRASE_FILE");
  CHECK_FALSE(PassphraseFromEnvironment().value().has_value());
  WriteBytes(folder.path() + "/phrase", " \tfrom file \n");
  ::setenv("PULUMI_CONFIG_PASSPHRASE_FILE", (folder.path() + "/phrase").c_str(), 1);
  CHECK(PassphraseFromEnvironment().value() == "from file");
  ::setenv("PULUMI_CONFIG_PASSPHRASE_FILE", (folder.path() + "/none").c_str(), 1);
  CHECK_FALSE(PassphraseFromEnvironment());
  ::setenv("PULUMI_CONFIG_PASSPHRASE", " kept ", 1);
  CHECK(PassphraseFromEnvironment().value() == " kept ");
  ::setenv("PULUMI_CONFIG_PASSPHRASE", "", 1);
  CHECK(PassphraseFromEnvironment().value() == "");
}

TEST_CASE(
    "[S82] the checkpoint of the vectors reads as it says, and is written back byte for byte") {
  const nlohmann::json& vector = Vectors().at("checkpoint");
  const std::string text = vector.at("text");
  CHECK(Sha256Hex(text) == vector.at("sha256").get<std::string>());
  SecretTexts texts;
  Result<Checkpoint> checkpoint = ReadCheckpoint(
      text, CheckpointReading{SecretsIn::kOpen, &texts, OpenerFor(vector.at("passphrase"))});
  REQUIRE(checkpoint);
  const Snapshot& snapshot = *checkpoint->snapshot;
  REQUIRE(snapshot.resources.size() == 3);
  CHECK(snapshot.resources[0]->outputs.at("conn") ==
        MakeSecret(PropertyMap{{"host", "db"}, {"port", 5432}}));
  CHECK(snapshot.resources[2]->outputs.at("result") == MakeSecret("hunter2"));
  CheckpointWriting writing;
  writing.secrets_type = snapshot.secrets_type;
  writing.secrets_state = snapshot.secrets_state;
  writing.values.texts = &texts;
  writing.values.manager_id = ManagerId(snapshot.secrets_type, snapshot.secrets_state);
  CHECK(WriteCheckpoint("organization/demo/dev", snapshot, writing).value() == text);
}

}  // namespace davit::testing
