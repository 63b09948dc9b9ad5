// The passphrase manager (S61-S67): PBKDF2-HMAC-SHA256 and AES-256-GCM of OpenSSL.

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/base/base64.h"
#include "engine/base/check.h"
#include "engine/base/digest.h"
#include "state/secrets/secrets_manager.h"

namespace davit {
namespace {

constexpr int kIterations = 1'000'000;
constexpr int kKeySize = 32;
constexpr int kNonceSize = 12;
constexpr int kTagSize = 16;
constexpr int kSaltSize = 8;
constexpr std::string_view kVersion = "v1";
constexpr std::string_view kVerifierText = "pulumi";

const unsigned char* Bytes(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* Bytes(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

std::string DeriveKey(const std::string& passphrase, const std::string& salt) {
  std::string key(kKeySize, '\0');
  const int done = PKCS5_PBKDF2_HMAC(passphrase.data(),
                                     static_cast<int>(passphrase.size()),
                                     Bytes(salt),
                                     static_cast<int>(salt.size()),
                                     kIterations,
                                     EVP_sha256(),
                                     kKeySize,
                                     Bytes(key));
  DAVIT_CHECK(done == 1, "the key derivation of OpenSSL failed");
  return key;
}

// One derivation takes a third of a second (S84), so a process keeps its keys. What is kept is
// looked up by a digest: the passphrase itself is not held.
std::string CachedKey(const std::string& passphrase, const std::string& salt) {
  static std::mutex mutex;
  static std::map<std::string, std::string> keys;
  const std::string name = Sha256Hex(fmt::format("{}:{}{}", passphrase.size(), passphrase, salt));
  const std::lock_guard<std::mutex> lock(mutex);
  const auto known = keys.find(name);
  if (known != keys.end()) {
    return known->second;
  }
  return keys.emplace(name, DeriveKey(passphrase, salt)).first->second;
}

class CipherContext {
 public:
  CipherContext() : context_(EVP_CIPHER_CTX_new()) {
    DAVIT_CHECK(context_ != nullptr, "OpenSSL gave no cipher context");
  }
  CipherContext(const CipherContext&) = delete;
  CipherContext& operator=(const CipherContext&) = delete;
  ~CipherContext() { EVP_CIPHER_CTX_free(context_); }
  EVP_CIPHER_CTX* get() { return context_; }

 private:
  EVP_CIPHER_CTX* context_;
};

// The body with the tag appended.
std::string Seal(const std::string& key, const std::string& nonce, const std::string& plaintext) {
  CipherContext context;
  std::string sealed(plaintext.size() + kTagSize, '\0');
  int length = 0;
  int last = 0;
  const bool done =
      EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, Bytes(key), Bytes(nonce)) ==
          1 &&
      EVP_EncryptUpdate(context.get(),
                        Bytes(sealed),
                        &length,
                        Bytes(plaintext),
                        static_cast<int>(plaintext.size())) == 1 &&
      EVP_EncryptFinal_ex(context.get(), Bytes(sealed) + length, &last) == 1 &&
      EVP_CIPHER_CTX_ctrl(
          context.get(), EVP_CTRL_GCM_GET_TAG, kTagSize, Bytes(sealed) + plaintext.size()) == 1;
  DAVIT_CHECK(done, "the encryption of OpenSSL failed");
  return sealed;
}

std::optional<std::string> Unseal(const std::string& key,
                                  const std::string& nonce,
                                  std::string sealed) {
  if (sealed.size() < kTagSize) {
    return std::nullopt;
  }
  const std::size_t size = sealed.size() - kTagSize;
  CipherContext context;
  std::string plaintext(size + kTagSize, '\0');
  int length = 0;
  int last = 0;
  const bool done =
      EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, Bytes(key), Bytes(nonce)) ==
          1 &&
      EVP_DecryptUpdate(
          context.get(), Bytes(plaintext), &length, Bytes(sealed), static_cast<int>(size)) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kTagSize, Bytes(sealed) + size) ==
          1 &&
      EVP_DecryptFinal_ex(context.get(), Bytes(plaintext) + length, &last) == 1;
  if (!done) {
    return std::nullopt;
  }
  plaintext.resize(size);
  return plaintext;
}

std::vector<std::string_view> Split(std::string_view text, std::size_t at_most) {
  std::vector<std::string_view> parts;
  while (parts.size() + 1 < at_most) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) {
      break;
    }
    parts.push_back(text.substr(0, colon));
    text.remove_prefix(colon + 1);
  }
  parts.push_back(text);
  return parts;
}

Unexpected BadValue(std::string_view why) {
  return Fail(ErrorKind::kInvalid,
              fmt::format("an encrypted value cannot be opened: {}", why),
              "it was damaged, or encrypted with another passphrase");
}

class PassphraseManager final : public SecretsManager {
 public:
  PassphraseManager(std::string key, RandomSource random)
      : key_(std::move(key)), random_(std::move(random)) {}

  std::string type() const override { return "passphrase"; }
  std::string state_json() const override {
    std::string salt;
    for (const char c : state_) {  // base64 and colons; line breaks are the one thing to escape
      salt += c == '\n' ? std::string("\\n") : c == '\r' ? std::string("\\r") : std::string(1, c);
    }
    return fmt::format(R"({{"salt":"{}"}})", salt);
  }

  Result<std::string> Encrypt(const std::string& plaintext) override {
    const std::string nonce = random_(kNonceSize);
    DAVIT_CHECK(nonce.size() == kNonceSize, "the random source gave too few bytes");
    return fmt::format(
        "{}:{}:{}", kVersion, EncodeBase64(nonce), EncodeBase64(Seal(key_, nonce, plaintext)));
  }

  Result<std::string> Decrypt(const std::string& ciphertext) override {
    const std::vector<std::string_view> parts = Split(ciphertext, 4);
    if (parts.size() != 3) {
      return BadValue(fmt::format("it has {} parts, not 3", parts.size()));
    }
    if (parts[0] != kVersion) {
      return BadValue("its version is not known");
    }
    const std::optional<std::string> nonce = DecodeBase64(parts[1]);
    const std::optional<std::string> body = DecodeBase64(parts[2]);
    if (!nonce || !body) {
      return BadValue("it is not base64");
    }
    if (nonce->size() != kNonceSize) {
      return BadValue(fmt::format("its nonce has {} bytes, not {}", nonce->size(), kNonceSize));
    }
    std::optional<std::string> plaintext = Unseal(key_, *nonce, *body);
    if (!plaintext) {
      return BadValue("it does not authenticate");
    }
    return *std::move(plaintext);
  }

  void SetState(std::string state) { state_ = std::move(state); }

 private:
  std::string key_;
  RandomSource random_;
  std::string state_;
};

}  // namespace

Result<std::unique_ptr<SecretsManager>> OpenPassphraseManager(const std::string& state,
                                                              const std::string& passphrase,
                                                              RandomSource random) {
  const std::vector<std::string_view> parts = Split(state, 3);
  if (parts.size() < 3) {
    return Fail(ErrorKind::kInvalid,
                "the encryption salt is malformed: it has fewer than three parts",
                "restore `encryptionsalt` (or the salt in the state) from a backup");
  }
  if (parts[0] != kVersion) {
    return Fail(ErrorKind::kInvalid,
                "the encryption salt has an unknown version: expected 'v1'",
                "restore `encryptionsalt` (or the salt in the state) from a backup");
  }
  const std::optional<std::string> salt = DecodeBase64(parts[1]);
  if (!salt) {
    return Fail(ErrorKind::kInvalid,
                "the encryption salt is not base64",
                "restore `encryptionsalt` (or the salt in the state) from a backup");
  }
  auto manager =
      std::make_unique<PassphraseManager>(CachedKey(passphrase, *salt), std::move(random));
  const Result<std::string> verified = manager->Decrypt(std::string(parts[2]));
  if (!verified || *verified != kVerifierText) {  // S65: whatever is wrong with the verifier
    return Fail(ErrorKind::kRefused,
                "incorrect passphrase",
                "set PULUMI_CONFIG_PASSPHRASE (or PULUMI_CONFIG_PASSPHRASE_FILE) to the "
                "passphrase of this stack");
  }
  manager->SetState(state);
  return std::unique_ptr<SecretsManager>(std::move(manager));
}

Result<std::unique_ptr<SecretsManager>> NewPassphraseManager(const std::string& passphrase,
                                                             RandomSource random) {
  const std::string salt = random(kSaltSize);
  auto manager = std::make_unique<PassphraseManager>(CachedKey(passphrase, salt), random);
  DAVIT_TRY(const std::string verifier, manager->Encrypt(std::string(kVerifierText)));
  manager->SetState(fmt::format("{}:{}:{}", kVersion, EncodeBase64(salt), verifier));
  return std::unique_ptr<SecretsManager>(std::move(manager));
}

std::string SystemRandom(int count) {
  std::string bytes(static_cast<std::size_t>(count), '\0');
  DAVIT_CHECK(RAND_bytes(Bytes(bytes), count) == 1, "the system gives no random bytes");
  return bytes;
}

Result<std::optional<std::string>> PassphraseFromEnvironment() {
  if (const char* passphrase = std::getenv("PULUMI_CONFIG_PASSPHRASE")) {
    return std::optional<std::string>(passphrase);
  }
  const char* path = std::getenv("PULUMI_CONFIG_PASSPHRASE_FILE");
  if (path == nullptr || *path == '\0') {
    return std::optional<std::string>();
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.is_open() || file.bad()) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("the file '{}' of PULUMI_CONFIG_PASSPHRASE_FILE cannot be read: {}",
                            path,
                            std::generic_category().message(errno)),
                "correct the path, or set PULUMI_CONFIG_PASSPHRASE");
  }
  constexpr const char* kSpace = " \t\n\v\f\r";
  const std::size_t begin = content.find_first_not_of(kSpace);
  if (begin == std::string::npos) {
    return std::optional<std::string>(std::string());
  }
  return std::optional<std::string>(
      content.substr(begin, content.find_last_not_of(kSpace) - begin + 1));
}

}  // namespace davit
