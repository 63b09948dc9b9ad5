#include "cli/workspace/stack_secrets.h"

#include <fmt/format.h>

#include "cli/json_writer.h"

namespace davit {
namespace {

constexpr int kMaxAttempts = 3;
constexpr const char* kPassphraseType = "passphrase";

class LazyManager final : public SecretsManager {
 public:
  LazyManager(std::string salt, PassphraseSource passphrase, RandomSource random)
      : salt_(std::move(salt)), passphrase_(std::move(passphrase)), random_(std::move(random)) {}
  LazyManager(std::string salt, std::unique_ptr<SecretsManager> opened)
      : salt_(std::move(salt)), opened_(std::move(opened)) {}

  std::string type() const override { return kPassphraseType; }
  std::string state_json() const override {
    JsonWriter json;
    json.BeginObject().Key("salt").String(salt_).EndObject();
    return json.Take();
  }
  Result<std::string> Encrypt(const std::string& plaintext) override {
    const std::lock_guard lock(mutex_);
    DAVIT_TRY_VOID(Open());
    return opened_->Encrypt(plaintext);
  }
  Result<std::string> Decrypt(const std::string& ciphertext) override {
    const std::lock_guard lock(mutex_);
    DAVIT_TRY_VOID(Open());
    return opened_->Decrypt(ciphertext);
  }

 private:
  // A failure is kept: deriving a key again for each value would only take long.
  Result<void> Open() {
    for (int attempt = 0; !opened_; ++attempt) {
      Result<std::string> passphrase =
          failure_ && attempt == 0 ? Fail(*failure_) : passphrase_(attempt);
      if (!passphrase) {
        return Fail(failure_ ? *failure_ : passphrase.error());
      }
      Result<std::unique_ptr<SecretsManager>> manager =
          OpenPassphraseManager(salt_, *passphrase, random_);
      if (manager) {
        opened_ = *std::move(manager);
        break;
      }
      failure_ = manager.error();
      if (failure_->kind != ErrorKind::kRefused || attempt + 1 >= kMaxAttempts) {
        return Fail(*failure_);
      }
    }
    return {};
  }

  std::mutex mutex_;
  std::string salt_;
  PassphraseSource passphrase_;
  RandomSource random_;
  std::unique_ptr<SecretsManager> opened_;
  std::optional<Error> failure_;
};

}  // namespace

StackSecrets::StackSecrets(PassphraseSource passphrase, RandomSource random)
    : passphrase_(std::move(passphrase)), random_(std::move(random)) {}

std::shared_ptr<SecretsManager> StackSecrets::ForSalt(const std::string& salt) {
  std::shared_ptr<SecretsManager>& manager = by_salt_[salt];
  if (!manager) {
    manager = std::make_shared<LazyManager>(salt, passphrase_, random_);
  }
  return manager;
}

SecretsOpener StackSecrets::Opener() {
  return [this](const std::string& type,
                const std::string& state_json) -> Result<std::shared_ptr<SecretsManager>> {
    if (type != kPassphraseType) {
      return Fail(
          ErrorKind::kUnimplemented,
          fmt::format("davit does not support the secrets provider '{}' of this stack yet", type));
    }
    DAVIT_TRY(const std::string salt, SaltOf(state_json));
    return ForSalt(salt);
  };
}

Result<std::shared_ptr<SecretsManager>> StackSecrets::Resolve(const StackFile& file,
                                                              const std::string& state_type,
                                                              const std::string& state_json) {
  const std::string& provider = file.secrets_provider();
  if (!provider.empty() && provider != "default" && provider != kPassphraseType) {
    return Fail(
        ErrorKind::kUnimplemented,
        fmt::format(
            "davit does not support the secrets provider '{}' of '{}' yet", provider, file.path()));
  }
  if (!file.encryption_salt().empty()) {
    return ForSalt(file.encryption_salt());
  }
  if (state_type.empty()) {
    return std::shared_ptr<SecretsManager>();
  }
  return Opener()(state_type, state_json);
}

Result<std::shared_ptr<SecretsManager>> StackSecrets::Create() {
  DAVIT_TRY(const std::string passphrase, passphrase_(0));
  DAVIT_TRY(std::unique_ptr<SecretsManager> manager, NewPassphraseManager(passphrase, random_));
  DAVIT_TRY(const std::string salt, SaltOf(manager->state_json()));
  auto shared = std::make_shared<LazyManager>(salt, std::move(manager));
  by_salt_[salt] = shared;
  return std::shared_ptr<SecretsManager>(shared);
}

Result<void> StackSecrets::Verify(SecretsManager& manager) {
  DAVIT_TRY_VOID(manager.Encrypt(""));
  return {};
}

Decrypter DecrypterOf(std::shared_ptr<SecretsManager> manager) {
  return [manager = std::move(manager)](const std::string& ciphertext) -> Result<std::string> {
    if (!manager) {
      return Fail(ErrorKind::kInvalid,
                  "the stack file holds a secret but no 'encryptionsalt'",
                  "put the salt back, or set the value again");
    }
    return manager->Decrypt(ciphertext);
  };
}

}  // namespace davit
