#include "cli/workspace/stack_secrets.h"

#include <catch2/catch.hpp>

namespace davit {
namespace {

std::string FixedRandom(int count) {
  return std::string(static_cast<std::size_t>(count), 'r');
}

struct Passphrases {
  std::vector<std::string> answers;
  int asked = 0;
  PassphraseSource Source() {
    return [this](int attempt) -> Result<std::string> {
      ++asked;
      if (static_cast<std::size_t>(attempt) >= answers.size()) {
        return Fail(ErrorKind::kRefused, "nobody to ask");
      }
      return answers[static_cast<std::size_t>(attempt)];
    };
  }
};

StackFile FileWith(const std::string& text) {
  return *StackFile::Parse(text, "Pulumi.dev.yaml", "p");
}

std::string SaltIn(const Result<std::shared_ptr<SecretsManager>>& manager) {
  REQUIRE(manager);
  return *SaltOf((*manager)->state_json());
}

TEST_CASE("[S67][S68] a manager is opened when it is used, once") {
  Passphrases setup{{"right"}};
  StackSecrets maker(setup.Source(), FixedRandom);
  const std::shared_ptr<SecretsManager> made = *maker.Create();
  const std::string salt = *SaltOf(made->state_json());
  const std::string ciphertext = *made->Encrypt("canary");
  const StackFile file = FileWith("encryptionsalt: " + salt + "\n");

  Passphrases given{{"right"}};
  StackSecrets secrets(given.Source(), FixedRandom);
  const std::shared_ptr<SecretsManager> manager = *secrets.Resolve(file, "", "");
  CHECK(given.asked == 0);
  CHECK(manager->type() == "passphrase");
  CHECK(*SaltOf(manager->state_json()) == salt);
  CHECK(*manager->Decrypt(ciphertext) == "canary");
  CHECK(*manager->Decrypt(ciphertext) == "canary");
  CHECK(given.asked == 1);
  CHECK(*secrets.Opener()("passphrase", manager->state_json()) == manager);

  Passphrases wrong{{"wrong-words"}};
  StackSecrets other(wrong.Source(), FixedRandom);
  const std::shared_ptr<SecretsManager> closed = *other.Resolve(file, "", "");
  CHECK_FALSE(StackSecrets::Verify(*closed));
  const int asked = wrong.asked;
  const Result<std::string> refused = closed->Decrypt(ciphertext);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().Text().find("wrong-words") == std::string::npos);
  CHECK(refused.error().message.find("incorrect passphrase") != std::string::npos);
  CHECK(wrong.asked <= asked + 1);

  Passphrases second_try{{"wrong", "right"}};
  StackSecrets patient(second_try.Source(), FixedRandom);
  const std::shared_ptr<SecretsManager> opened = *patient.Resolve(file, "", "");
  CHECK(*opened->Decrypt(ciphertext) == "canary");
}

TEST_CASE("[S75] the stack file's manager, else the state's, else none") {
  Passphrases none;
  StackSecrets secrets(none.Source(), FixedRandom);
  const std::string state = R"({"salt":"v1:c3RhdGU=:v1:a:b"})";
  CHECK(*secrets.Resolve(FileWith(""), "", "") == nullptr);
  CHECK(SaltIn(secrets.Resolve(FileWith(""), "passphrase", state)) == "v1:c3RhdGU=:v1:a:b");
  const StackFile file = FileWith("encryptionsalt: v1:ZmlsZQ==:v1:a:b\n");
  CHECK(SaltIn(secrets.Resolve(file, "passphrase", state)) == "v1:ZmlsZQ==:v1:a:b");
  const auto keys = secrets.Resolve(FileWith("secretsprovider: awskms://key\n"), "", "");
  REQUIRE_FALSE(keys);
  CHECK(keys.error().kind == ErrorKind::kUnimplemented);
  const auto service = secrets.Resolve(FileWith(""), "service", "{}");
  REQUIRE_FALSE(service);
  CHECK(service.error().message.find("'service'") != std::string::npos);
  CHECK(none.asked == 0);
}

TEST_CASE("a secret without a manager is an error that says what to do") {
  const Result<std::string> clear = DecrypterOf(nullptr)("v1:a:b");
  REQUIRE_FALSE(clear);
  CHECK(clear.error().message.find("encryptionsalt") != std::string::npos);
}

}  // namespace
}  // namespace davit
