#pragma once
// Encryption of secrets in configuration and state (S61-S81). One manager belongs to one salt (or
// key).

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/base/result.h"

namespace davit {

class SecretsManager {
 public:
  virtual ~SecretsManager() = default;
  /// `passphrase`, ... as written to `secrets_providers.type`.
  virtual std::string type() const = 0;
  /// JSON text of `secrets_providers.state`.
  virtual std::string state_json() const = 0;
  /// Encrypts raw bytes to the text form of S63.
  virtual Result<std::string> Encrypt(const std::string& plaintext) = 0;
  /// Opens a text of S63; errors by S66 never contain the text.
  virtual Result<std::string> Decrypt(const std::string& ciphertext) = 0;
};

/// Gives the passphrase by the rules of S67, or an error that names both variables. `attempt`
/// counts from 0.
using PassphraseSource = std::function<Result<std::string>(int attempt)>;
/// `count` random bytes (nonces and salts).
using RandomSource = std::function<std::string(int count)>;

/// The salt's state string: `v1:<base64 salt>:<verifier>` (S62). Opening fails with kRefused for a
/// wrong passphrase and kInvalid for a malformed state (S65).
Result<std::unique_ptr<SecretsManager>> OpenPassphraseManager(const std::string& state,
                                                              const std::string& passphrase,
                                                              RandomSource random);
/// A new manager with a fresh 8-byte salt; its state string goes to `encryptionsalt` and to the
/// checkpoint.
Result<std::unique_ptr<SecretsManager>> NewPassphraseManager(const std::string& passphrase,
                                                             RandomSource random);
/// The state string inside a passphrase manager's state_json ({"salt": "..."}).
Result<std::string> SaltOf(const std::string& state_json);
/// Random bytes of the operating system.
std::string SystemRandom(int count);
/// PULUMI_CONFIG_PASSPHRASE if set (empty counts), else the trimmed content of
/// PULUMI_CONFIG_PASSPHRASE_FILE, else absent.
Result<std::optional<std::string>> PassphraseFromEnvironment();

}  // namespace davit
