#include "state/codec/secret_texts.h"

#include <algorithm>
#include <utility>

#include "state/codec/json_reader.h"

namespace davit {

std::string ManagerId(const std::string& type, const std::string& state_json) {
  return type + "\n" + state_json;
}

void SecretTexts::Remember(const Secret& secret, SecretText text) {
  if (entries_.size() >= sweep_at_) {
    Sweep();
  }
  entries_[secret.payload().get()] = Entry{secret.payload(), std::move(text)};
}

const SecretText* SecretTexts::Find(const Secret& secret) const {
  const auto found = entries_.find(secret.payload().get());
  return found == entries_.end() || found->second.payload.expired() ? nullptr : &found->second.text;
}

void SecretTexts::Sweep() {
  std::erase_if(entries_, [](const auto& entry) { return entry.second.payload.expired(); });
  sweep_at_ = std::max<std::size_t>(1024, entries_.size() * 2);
}

void DocumentSecrets::Set(std::string type, std::string state_json) {
  type_ = std::move(type);
  state_json_ = std::move(state_json);
  id_ = ManagerId(type_, state_json_);
  locate_ = nullptr;
}

void DocumentSecrets::Locate() {
  if (const std::function<void()> locate = std::exchange(locate_, nullptr)) {
    locate();
  }
}

const std::string& DocumentSecrets::Id() {
  Locate();
  return id_;
}

Result<std::string> SaltOf(const std::string& state_json) {
  JsonReader reader(state_json, "the state of the secrets manager");
  std::string salt;
  std::string key;
  reader.EnterObject();
  while (reader.NextMember(&key)) {
    if (key == "salt") {
      salt = reader.String();
    } else {
      reader.Raw();
    }
  }
  reader.ExpectEnd();
  DAVIT_TRY_VOID(reader.Finish());
  if (salt.empty()) {
    return Fail(ErrorKind::kInvalid,
                "the state of the secrets manager has no salt",
                "restore `secrets_providers` of the state from a backup");
  }
  return salt;
}

Result<SecretsManager*> DocumentSecrets::Open() {
  if (manager_) {
    return manager_.get();
  }
  Locate();
  if (type_.empty()) {
    return Fail(ErrorKind::kInvalid,
                "the state has an encrypted value but does not say how to open it",
                "restore `secrets_providers` of the state from a backup");
  }
  if (!opener_) {
    return Fail(ErrorKind::kRefused,
                "the state has encrypted values",
                "set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE");
  }
  DAVIT_TRY(manager_, opener_(type_, state_json_));
  return manager_.get();
}

}  // namespace davit
