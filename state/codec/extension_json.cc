#include "state/codec/extension_json.h"

#include "engine/base/base64.h"
#include "state/codec/json_writer.h"

namespace davit {

void WriteExtension(const Extension& extension, std::string* out) {
  JsonObjectWriter item(out);
  item.String("name", extension.name);
  item.String("version", extension.version);
  item.String("value", EncodeBase64(extension.value));
  item.End();
}

Extension ReadExtension(JsonReader& reader) {
  Extension extension;
  std::string key;
  if (!reader.EnterObject()) {
    return extension;
  }
  while (reader.NextMember(&key)) {
    if (key == "name") {
      extension.name = reader.String();
    } else if (key == "version") {
      extension.version = reader.String();
    } else if (key == "value") {
      std::optional<std::string> value = DecodeBase64(reader.String());
      if (!value) {
        reader.SetError("the value of an extension is not base64");
        return extension;
      }
      extension.value = *std::move(value);
    } else {
      reader.Raw();
    }
  }
  return extension;
}

std::map<std::string, Extension> ReadExtensions(JsonReader& reader) {
  std::map<std::string, Extension> extensions;
  std::string reference;
  if (reader.EnterObject()) {
    while (reader.NextMember(&reference)) {
      extensions[reference] = ReadExtension(reader);
    }
  }
  return extensions;
}

}  // namespace davit
