// localhost:index:File.

#include <fmt/format.h>

#include "providers/localhost/file_system.h"
#include "providers/localhost/inputs.h"
#include "providers/localhost/resources.h"

namespace davit::localhost {
namespace {

using kit::CallContext;
using kit::SchemaType;

kit::ResourceSchema FileSchema() {
  kit::ResourceSchema schema;
  schema.token = "localhost:index:File";
  schema.description = "A file with the given bytes. It is written as a whole or not at all.";
  schema.inputs = {
      {.name = "path",
       .type = SchemaType::String(),
       .description = "Where the file is. A relative path starts at the program's folder; the "
                      "output is absolute. Its folder must exist.",
       .required = true,
       .replace_on_changes = true},
      {.name = "content",
       .type = SchemaType::String(),
       .description = "The bytes of the file. Either this or `source` is needed."},
      {.name = "source",
       .type = SchemaType::String(),
       .description = "A file to copy; a change of its bytes is a change of this resource."},
      {.name = "mode",
       .type = SchemaType::String(),
       .description = "Permissions as four octal digits, in quotes.",
       .default_value = "0644"},
      {.name = "force",
       .type = SchemaType::Boolean(),
       .description = "Take over a file that is there already instead of refusing to create it.",
       .default_value = false}};
  schema.outputs = {
      {.name = "mode", .type = SchemaType::String(), .required = true},
      {.name = "force", .type = SchemaType::Boolean(), .required = true},
      {.name = "sha256",
       .type = SchemaType::String(),
       .description = "SHA-256 of the bytes in lower-case hex; secret when `content` is.",
       .required = true},
      {.name = "size",
       .type = SchemaType::Integer(),
       .description = "Number of bytes.",
       .required = true}};
  return schema;
}

/// Sets `path`, `sha256` and `size` beside the inputs; what is not known is unknown.
PropertyMap Outputs(const PropertyMap& inputs,
                    const std::optional<std::string>& path,
                    const std::optional<FileDigest>& digest) {
  PropertyMap outputs = inputs;
  outputs["path"] = path ? PropertyValue(*path) : PropertyValue(Unknown{});
  PropertyValue sha256 = digest ? PropertyValue(digest->sha256) : PropertyValue(Unknown{});
  const auto content = inputs.find("content");
  if (content != inputs.end() && ContainsSecrets(content->second)) {
    sha256 = MakeSecret(std::move(sha256));  // else a short secret could be guessed from it
  }
  outputs["sha256"] = std::move(sha256);
  outputs["size"] = digest ? PropertyValue(static_cast<double>(digest->size))
                           : PropertyValue(Unknown{UnknownKind::kNumber});
  return outputs;
}

/// The digest that the file will have; absent when the inputs do not tell yet.
std::optional<FileDigest> ExpectedDigest(const PropertyMap& plain_inputs) {
  if (const std::string* content = TextOf(plain_inputs, "content")) {
    return FileDigest{.sha256 = Sha256Hex(*content), .size = content->size()};
  }
  if (const std::string* source = TextOf(plain_inputs, "source")) {
    Result<FileDigest> digest = DigestFile(AbsolutePath(*source));
    return digest ? std::optional(*std::move(digest)) : std::nullopt;
  }
  return std::nullopt;
}

Result<FileDigest> Write(const std::string& path,
                         const PropertyMap& plain_inputs,
                         IfExists policy) {
  const std::string* content = TextOf(plain_inputs, "content");
  const std::string* source = TextOf(plain_inputs, "source");
  const std::string* mode_text = TextOf(plain_inputs, "mode");
  const std::optional<mode_t> mode = ParseMode(mode_text == nullptr ? "0644" : *mode_text);
  if ((content == nullptr && source == nullptr) || !mode) {
    return Fail(ErrorKind::kInvalid, "the inputs have not passed Check");
  }
  const FileSource bytes =
      content != nullptr ? FileSource(*content) : FileSource(CopyOf{AbsolutePath(*source)});
  return WriteFile(path, bytes, *mode, policy);
}

class File final : public kit::ResourceHandler {
 public:
  File() : ResourceHandler(FileSchema()) {}

  Result<CheckResponse> Check(const CheckRequest& request, CallContext& call) override {
    DAVIT_TRY(CheckResponse response, ResourceHandler::Check(request, call));
    const PropertyMap plain = Plain(response.inputs);
    CheckPath(plain, "path", &response.failures);
    CheckPath(plain, "source", &response.failures);
    const bool has_content = plain.contains("content");
    if (has_content == plain.contains("source")) {
      response.failures.push_back(
          {.property = "content",
           .reason = has_content ? "excludes 'source'" : "or 'source' is required"});
    }
    const std::string* mode = TextOf(plain, "mode");
    if (mode != nullptr && !ParseMode(*mode)) {
      response.failures.push_back(
          {.property = "mode",
           .reason = fmt::format("must be four octal digits in quotes, such as \"0644\", not '{}'",
                                 *mode)});
    }
    return response;
  }

  Result<DiffResponse> Diff(const DiffRequest& request, CallContext& call) override {
    DAVIT_TRY(DiffResponse response, ResourceHandler::Diff(request, call));
    std::map<std::string, PropertyDiff> detail = *std::move(response.detailed);
    const PropertyMap olds = Plain(request.old_outputs);
    const PropertyMap news = Plain(request.new_inputs);
    const std::string* old_path = TextOf(olds, "path");
    const std::string* new_path = TextOf(news, "path");
    if (old_path != nullptr && new_path != nullptr && AbsolutePath(*new_path) == *old_path) {
      detail.erase("path");  // another spelling of the same path
    }
    // What the file holds counts too: a source may have other bytes under the same name, and a
    // refresh may have found other ones on the disk.
    const std::string* old_sha256 = TextOf(olds, "sha256");
    const std::optional<FileDigest> expected = ExpectedDigest(news);
    if (old_sha256 != nullptr && expected && expected->sha256 != *old_sha256) {
      detail.try_emplace(news.contains("content") ? "content" : "source", PropertyDiff{});
    }
    const std::string* old_mode = TextOf(olds, "mode");
    const std::string* new_mode = TextOf(news, "mode");
    if (old_mode != nullptr && new_mode != nullptr && *old_mode != *new_mode) {
      detail.try_emplace("mode", PropertyDiff{});
    }
    response = kit::DiffFromDetail(std::move(detail));
    if (response.replaces.empty()) {
      response.stables = {"path"};
    }
    return response;
  }

  Result<CreateResponse> Create(const CreateRequest& request, CallContext& call) override {
    const PropertyMap plain = Plain(request.inputs);
    const std::string* path_text = TextOf(plain, "path");
    CreateResponse response;
    if (path_text == nullptr) {
      response.outputs = Outputs(request.inputs, std::nullopt, ExpectedDigest(plain));
      return response;
    }
    const std::string path = AbsolutePath(*path_text);
    DAVIT_TRY(const Entry entry, LookAt(path));
    const bool is_taken = entry.kind == EntryKind::kDirectory ||
                          (entry.kind != EntryKind::kMissing && !FlagOf(plain, "force"));
    if (request.preview) {
      if (is_taken) {
        call.Log(Severity::kWarning, Taken(path, entry).Text());
      }
      response.outputs = Outputs(request.inputs, path, ExpectedDigest(plain));
      return response;
    }
    if (is_taken) {
      return Fail(Taken(path, entry));
    }
    DAVIT_TRY(const FileDigest digest,
              Write(path, plain, FlagOf(plain, "force") ? IfExists::kReplace : IfExists::kFail));
    response.id = path;
    response.outputs = Outputs(request.inputs, path, digest);
    return response;
  }

  Result<ReadResponse> Read(const ReadRequest& request, CallContext&) override {
    ReadResponse response;
    const std::string path = AbsolutePath(request.id);
    DAVIT_TRY(const Entry entry, LookAt(path));
    if (entry.kind == EntryKind::kMissing) {
      return response;
    }
    if (entry.kind != EntryKind::kFile) {
      return Fail(ErrorKind::kFailed, fmt::format("'{}' is not a file any more", path));
    }
    DAVIT_TRY(const FileDigest digest, DigestFile(path));
    PropertyMap inputs = request.inputs;
    inputs.try_emplace("path", path);
    inputs.try_emplace("force", false);
    inputs["mode"] = ModeText(entry.mode);
    if (!inputs.contains("source")) {
      const auto old_content = inputs.find("content");
      const bool is_secret = old_content != inputs.end() && ContainsSecrets(old_content->second);
      const PropertyMap plain = Plain(inputs);
      const std::string* known = TextOf(plain, "content");
      if (known == nullptr || Sha256Hex(*known) != digest.sha256) {
        DAVIT_TRY(std::string content, ReadFile(path));
        inputs["content"] = is_secret ? MakeSecret(std::move(content)) : PropertyValue(content);
      }
    }
    response.id = path;
    response.outputs = Outputs(inputs, path, digest);
    response.inputs = std::move(inputs);
    return response;
  }

  Result<UpdateResponse> Update(const UpdateRequest& request, CallContext&) override {
    const PropertyMap plain = Plain(request.new_inputs);
    UpdateResponse response;
    if (request.preview) {
      response.outputs = Outputs(request.new_inputs, request.id, ExpectedDigest(plain));
      return response;
    }
    DAVIT_TRY(const FileDigest digest, Write(request.id, plain, IfExists::kReplace));
    response.outputs = Outputs(request.new_inputs, request.id, digest);
    return response;
  }

  Result<void> Delete(const DeleteRequest& request, CallContext&) override {
    return RemoveFile(request.id);
  }

 private:
  static Error Taken(const std::string& path, const Entry& entry) {
    if (entry.kind == EntryKind::kDirectory) {
      return MakeError(ErrorKind::kFailed, fmt::format("'{}' is a directory", path));
    }
    return MakeError(ErrorKind::kFailed,
                     fmt::format("'{}' exists and was not created here", path),
                     "set 'force: true' to take it over, or move it away");
  }
};

}  // namespace

std::shared_ptr<kit::ResourceHandler> MakeFileResource() {
  return std::make_shared<File>();
}

}  // namespace davit::localhost
