#include "state/codec/import_json.h"

#include <fmt/format.h>

#include "engine/base/base64.h"

namespace davit {
namespace {

class ImportReader {
 public:
  ImportReader(JsonReader& reader, const PropertyReading& reading)
      : reader_(reader), reading_(reading) {}

  void Read(ImportFile* file) {
    if (reader_.Peek() != JsonKind::kObject) {
      reader_.SetError("expected an object with 'resources'");
      return;
    }
    ReadMembers(reader_,
                {{"nameTable", [&] { Names(&file->names); }},
                 {"resources", [&] { Entries(&file->entries); }},
                 {"providerInputs", [&] { Refuse("providerInputs"); }}});
  }

 private:
  void Refuse(const char* member) {
    reader_.SetError(
        MakeError(ErrorKind::kUnimplemented,
                  fmt::format("davit does not support '{}' in an import file", member)));
  }

  void Names(std::map<std::string, std::string>* names) {
    std::string name;
    if (!reader_.EnterObject()) {
      return;
    }
    while (reader_.NextMember(&name)) {
      (*names)[name] = reader_.String();
    }
  }

  void Entries(std::vector<ImportEntry>* entries) {
    if (!reader_.EnterArray()) {
      return;
    }
    while (reader_.NextItem()) {
      Entry(&entries->emplace_back());
    }
  }

  void Entry(ImportEntry* entry) {
    const auto text = [this](std::string* out) { return [this, out] { reader_.String(out); }; };
    ReadMembers(reader_,
                {{"type", text(&entry->type)},
                 {"name", text(&entry->name)},
                 {"logicalName", text(&entry->logical_name)},
                 {"id", text(&entry->id)},
                 {"parent", text(&entry->parent)},
                 {"provider", text(&entry->provider)},
                 {"version", text(&entry->version)},
                 {"pluginDownloadUrl", text(&entry->download_url)},
                 {"component", [&] { entry->is_component = reader_.Bool(); }},
                 {"remote", [&] { entry->is_remote = reader_.Bool(); }},
                 {"inputs", [&] { entry->inputs = ReadPropertyMap(reader_, reading_); }},
                 {"outputs", [&] { entry->outputs = ReadPropertyMap(reader_, reading_); }},
                 {"properties", [&] { Properties(&entry->properties); }},
                 {"parameterization", [&] { Parameters(&entry->parameterization.emplace()); }},
                 {"extension", [&] { Refuse("extension"); }}});
  }

  void Properties(std::vector<std::string>* properties) {
    if (!reader_.EnterArray()) {
      return;
    }
    while (reader_.NextItem()) {
      properties->push_back(reader_.String());
    }
  }

  void Parameters(ImportParameterization* parameters) {
    ReadMembers(reader_,
                {{"pluginName", [&] { parameters->plugin_name = reader_.String(); }},
                 {"pluginVersion", [&] { parameters->plugin_version = reader_.String(); }},
                 {"value", [&] {
                    std::optional<std::string> bytes = DecodeBase64(reader_.String());
                    if (!bytes) {
                      reader_.SetError("the value of a parameterization is no base64 text");
                      return;
                    }
                    parameters->value = *std::move(bytes);
                  }}});
  }

  JsonReader& reader_;
  const PropertyReading& reading_;
};

}  // namespace

Result<ImportFile> ReadImportFile(std::string_view text, const PropertyReading& reading) {
  JsonReader reader(text, "the import file");
  ImportFile file;
  ImportReader(reader, reading).Read(&file);
  reader.ExpectEnd();
  DAVIT_TRY_VOID(reader.Finish());
  return file;
}

}  // namespace davit
