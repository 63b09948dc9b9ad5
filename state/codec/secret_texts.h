#pragma once
// How secrets look in a document, and the ciphertexts that go with values in memory, so that an
// unchanged secret keeps its bytes from one file to the next (W13). An object lives as long as its
// backend; one thread at a time.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/value/property_value.h"
#include "state/backend/backend.h"

namespace davit {

/// A secret as a file holds it.
struct SecretText {
  std::string text;
  bool is_plaintext = false;
  std::string manager_id;  ///< of the manager that made the ciphertext (ManagerId)
  bool has_raw_bytes =
      false;  ///< holds text that is not UTF-8 (S54), so that the file needs the feature
};

/// Tells managers apart: equal ids open each other's ciphertexts (S77).
std::string ManagerId(const std::string& type, const std::string& state_json);

class SecretTexts {
 public:
  void Remember(const Secret& secret, SecretText text);
  /// Null when nothing is known of this very value.
  const SecretText* Find(const Secret& secret) const;

 private:
  struct Entry {
    std::weak_ptr<const PropertyValue>
        payload;  ///< expired: another value may have taken the address
    SecretText text;
  };
  void Sweep();
  std::map<const PropertyValue*, Entry> entries_;
  std::size_t sweep_at_ = 1024;
};

/// Who opens the secrets of one document: asked at the first ciphertext only.
class DocumentSecrets {
 public:
  explicit DocumentSecrets(SecretsOpener opener) : opener_(std::move(opener)) {}
  /// What the document says about its manager. A reader that has not come by it yet gives `locate`,
  /// which is called when a secret comes first, and calls Set.
  void Set(std::string type, std::string state_json);
  void SetLocate(std::function<void()> locate) { locate_ = std::move(locate); }
  Result<SecretsManager*> Open();
  const std::string& Id();
  /// Null until opened.
  const std::shared_ptr<SecretsManager>& manager() const { return manager_; }

 private:
  void Locate();
  SecretsOpener opener_;
  std::function<void()> locate_;
  std::string type_;
  std::string state_json_;
  std::string id_;
  std::shared_ptr<SecretsManager> manager_;
};

}  // namespace davit
