#pragma once
// Which secrets manager a stack uses (S67-S70, S75-S77). A manager is opened when something is
// encrypted or decrypted for the first time, so that commands that meet no secret need no
// passphrase. Safe from several threads.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "cli/workspace/stack_file.h"
#include "engine/base/result.h"
#include "state/backend/backend.h"
#include "state/secrets/secrets_manager.h"

namespace davit {

class StackSecrets {
 public:
  /// `passphrase` gives it from the environment or a prompt, or the error of S67.
  StackSecrets(PassphraseSource passphrase, RandomSource random);

  /// The manager of a salt (`v1:...`); not opened yet. Salts that were seen before share one
  /// manager (S68).
  std::shared_ptr<SecretsManager> ForSalt(const std::string& salt);
  /// For Backend::Load and friends. Types other than `passphrase` are refused by name.
  SecretsOpener Opener();
  /// S75: the stack file's manager, else the state's (`state_type` empty: none), else null. A
  /// provider in the stack file that davit does not support is an error.
  Result<std::shared_ptr<SecretsManager>> Resolve(const StackFile& file,
                                                  const std::string& state_type,
                                                  const std::string& state_json);
  /// A new manager; asks for a passphrase.
  Result<std::shared_ptr<SecretsManager>> Create();
  /// Opens the manager now, so that a wrong passphrase shows before anything is changed (S70).
  static Result<void> Verify(SecretsManager& manager);

 private:
  PassphraseSource passphrase_;
  RandomSource random_;
  std::map<std::string, std::shared_ptr<SecretsManager>> by_salt_;
};

/// A decrypter for values of a stack file. `manager` may be null: then every value is an error.
Decrypter DecrypterOf(std::shared_ptr<SecretsManager> manager);

}  // namespace davit
