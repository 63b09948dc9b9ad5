#pragma once
// Property values in state files: plain JSON and the marked objects of S46-S60, both ways. One
// thread at a time.

#include <optional>
#include <set>
#include <string>

#include "engine/base/result.h"
#include "engine/value/property_value.h"
#include "state/codec/json_reader.h"
#include "state/codec/json_writer.h"
#include "state/codec/secret_texts.h"

namespace davit {

/// How a reader takes secrets.
enum class SecretsIn {
  kOpen,    ///< decrypted; the ciphertext is remembered
  kClosed,  ///< not decrypted: the value is a placeholder whose text SecretTexts knows (export
            ///< without a passphrase)
  kNested,  ///< inside a decrypted secret: what is called ciphertext is plain JSON text (S50)
};
struct PropertyReading {
  SecretsIn secrets = SecretsIn::kOpen;
  SecretTexts* texts = nullptr;         ///< not for kNested
  DocumentSecrets* document = nullptr;  ///< not for kNested
};

/// Reads one value; errors stick to the reader.
PropertyValue ReadProperty(JsonReader& reader, const PropertyReading& reading);
/// Reads an object (or null) whose members are values.
PropertyMap ReadPropertyMap(JsonReader& reader, const PropertyReading& reading);

/// How a writer gives secrets.
enum class SecretsOut {
  kEncrypted,  ///< with the remembered ciphertext of the same manager, else encrypted now
  kAsRead,     ///< whatever was read with SecretsIn::kClosed
  kPlaintext,  ///< `--show-secrets` (S51)
  kNested,     ///< inside a secret (S50)
};
struct PropertyWriting {
  SecretsOut secrets = SecretsOut::kEncrypted;
  SecretTexts* texts = nullptr;
  SecretsManager* manager = nullptr;  ///< null: nothing new can be encrypted
  std::string manager_id;             ///< of what the document names as its manager
  HtmlEscaping html = HtmlEscaping::kOff;
  // Results:
  std::set<std::string> features;  ///< of S10, as far as values decide
  std::optional<Error> error;      ///< the first failure; what was written is then of no use
};

void WriteProperty(const PropertyValue& value, PropertyWriting& writing, std::string* out);
void WritePropertyMap(const PropertyMap& map, PropertyWriting& writing, std::string* out);

}  // namespace davit
