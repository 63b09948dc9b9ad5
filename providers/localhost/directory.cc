// localhost:index:Directory.

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "providers/localhost/file_system.h"
#include "providers/localhost/inputs.h"
#include "providers/localhost/resources.h"

namespace davit::localhost {
namespace {

using kit::CallContext;
using kit::SchemaType;

kit::ResourceSchema DirectorySchema() {
  kit::ResourceSchema schema;
  schema.token = "localhost:index:Directory";
  schema.description = "A directory.";
  schema.inputs = {
      {.name = "path",
       .type = SchemaType::String(),
       .description = "Where the directory is. A relative path starts at the program's folder; the "
                      "output is absolute.",
       .required = true,
       .replace_on_changes = true},
      {.name = "mode",
       .type = SchemaType::String(),
       .description = "Permissions as four octal digits, in quotes.",
       .default_value = "0755"},
      {.name = "parents",
       .type = SchemaType::Boolean(),
       .description = "Create missing parents, which stay when the directory is deleted.",
       .default_value = false},
      {.name = "force",
       .type = SchemaType::Boolean(),
       .description =
           "Use a directory that is there already instead of refusing to create it. Such "
           "a directory stays when the resource is deleted.",
       .default_value = false},
      {.name = "forceDelete",
       .type = SchemaType::Boolean(),
       .description = "Delete the directory with all it holds, instead of only when it is empty.",
       .default_value = false}};
  schema.outputs = {{.name = "mode", .type = SchemaType::String(), .required = true},
                    {.name = "created",
                     .type = SchemaType::Boolean(),
                     .description = "Whether this resource made the directory.",
                     .required = true}};
  return schema;
}

Result<void> MakeDirectory(const std::string& path, bool with_parents) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  if (with_parents) {
    std::error_code error;
    std::filesystem::create_directories(parent, error);
    if (error) {
      return Fail(SystemError("create", parent, error.value()));
    }
  }
  if (::mkdir(path.c_str(), 0700) != 0) {
    return Fail(SystemError("create", path, errno));
  }
  return {};
}

class Directory final : public kit::ResourceHandler {
 public:
  Directory() : ResourceHandler(DirectorySchema()) {}

  Result<CheckResponse> Check(const CheckRequest& request, CallContext& call) override {
    DAVIT_TRY(CheckResponse response, ResourceHandler::Check(request, call));
    const PropertyMap plain = Plain(response.inputs);
    CheckPath(plain, "path", &response.failures);
    const std::string* path = TextOf(plain, "path");
    if (path != nullptr && !path->empty() && AbsolutePath(*path) == "/") {
      response.failures.push_back({.property = "path", .reason = "must not be '/'"});
    }
    const std::string* mode = TextOf(plain, "mode");
    if (mode != nullptr && !ParseMode(*mode)) {
      response.failures.push_back(
          {.property = "mode",
           .reason = fmt::format("must be four octal digits in quotes, such as \"0755\", not '{}'",
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
      detail.erase("path");
    }
    const std::string* old_mode = TextOf(olds, "mode");
    const std::string* new_mode = TextOf(news, "mode");
    if (old_mode != nullptr && new_mode != nullptr && *old_mode != *new_mode) {
      detail.try_emplace("mode", PropertyDiff{});
    }
    response = kit::DiffFromDetail(std::move(detail));
    if (response.replaces.empty()) {
      response.stables = {"path", "created"};
    }
    return response;
  }

  Result<CreateResponse> Create(const CreateRequest& request, CallContext& call) override {
    const PropertyMap plain = Plain(request.inputs);
    const std::string* path_text = TextOf(plain, "path");
    CreateResponse response;
    response.outputs = request.inputs;
    if (path_text == nullptr) {
      response.outputs["created"] = Unknown{UnknownKind::kBool};
      return response;
    }
    const std::string path = AbsolutePath(*path_text);
    DAVIT_TRY(const Entry entry, LookAt(path));
    const bool is_there = entry.kind == EntryKind::kDirectory;
    const bool is_taken =
        entry.kind != EntryKind::kMissing && !(is_there && FlagOf(plain, "force"));
    response.outputs["path"] = path;
    response.outputs["created"] = !is_there;
    if (request.preview) {
      if (is_taken) {
        call.Log(Severity::kWarning, Taken(path, is_there).Text());
      }
      return response;
    }
    if (is_taken) {
      return Fail(Taken(path, is_there));
    }
    if (!is_there) {
      DAVIT_TRY_VOID(MakeDirectory(path, FlagOf(plain, "parents")));
    }
    response.id = path;
    if (Result<void> changed = SetMode(path, plain); !changed) {
      response.init_errors.push_back(changed.error().Text());
    }
    return response;
  }

  Result<ReadResponse> Read(const ReadRequest& request, CallContext&) override {
    ReadResponse response;
    const std::string path = AbsolutePath(request.id);
    DAVIT_TRY(const Entry entry, LookAt(path));
    if (entry.kind == EntryKind::kMissing) {
      return response;
    }
    if (entry.kind != EntryKind::kDirectory) {
      return Fail(ErrorKind::kFailed, fmt::format("'{}' is not a directory any more", path));
    }
    PropertyMap inputs = request.inputs;
    inputs.try_emplace("path", path);
    inputs.try_emplace("parents", false);
    inputs.try_emplace("force", false);
    inputs.try_emplace("forceDelete", false);
    inputs["mode"] = ModeText(entry.mode);
    PropertyMap outputs = inputs;
    outputs["path"] = path;
    // An import hands the directory over.
    outputs["created"] = request.state.empty() || FlagOf(Plain(request.state), "created");
    response.id = path;
    response.outputs = std::move(outputs);
    response.inputs = std::move(inputs);
    return response;
  }

  Result<UpdateResponse> Update(const UpdateRequest& request, CallContext&) override {
    UpdateResponse response;
    response.outputs = request.new_inputs;
    response.outputs["path"] = request.id;
    const PropertyMap olds = Plain(request.old_outputs);
    response.outputs["created"] = FlagOf(olds, "created");
    if (!request.preview) {
      DAVIT_TRY_VOID(SetMode(request.id, Plain(request.new_inputs)));
    }
    return response;
  }

  Result<void> Delete(const DeleteRequest& request, CallContext& call) override {
    const PropertyMap outputs = Plain(request.outputs);
    if (!FlagOf(outputs, "created")) {
      call.Log(Severity::kInfo, fmt::format("'{}' was not created here and stays", request.id));
      return {};
    }
    if (FlagOf(outputs, "forceDelete")) {
      std::error_code error;
      std::filesystem::remove_all(request.id, error);
      if (error) {
        return Fail(SystemError("delete", request.id, error.value()));
      }
      return {};
    }
    if (::rmdir(request.id.c_str()) == 0 || errno == ENOENT || errno == ENOTDIR) {
      return {};
    }
    const int reason = errno;
    Error error = SystemError("delete", request.id, reason);
    if (reason == ENOTEMPTY || reason == EEXIST) {
      error.advice = "empty it, or set 'forceDelete: true' and update first";
    }
    return Fail(std::move(error));
  }

 private:
  static Result<void> SetMode(const std::string& path, const PropertyMap& plain_inputs) {
    const std::string* text = TextOf(plain_inputs, "mode");
    const std::optional<mode_t> mode = ParseMode(text == nullptr ? "0755" : *text);
    if (!mode) {
      return Fail(ErrorKind::kInvalid, "the inputs have not passed Check");
    }
    return ChangeMode(path, *mode);
  }
  static Error Taken(const std::string& path, bool is_directory) {
    if (!is_directory) {
      return MakeError(ErrorKind::kFailed, fmt::format("'{}' exists and is no directory", path));
    }
    return MakeError(ErrorKind::kFailed,
                     fmt::format("directory '{}' exists and was not created here", path),
                     "set 'force: true' to use it as it is");
  }
};

}  // namespace

std::shared_ptr<kit::ResourceHandler> MakeDirectoryResource() {
  return std::make_shared<Directory>();
}

}  // namespace davit::localhost
