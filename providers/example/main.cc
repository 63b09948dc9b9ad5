// A provider in one file: `example:index:Note` keeps a text in a file below a folder.

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "providers/kit/provider.h"

namespace davit::kit {
namespace {

namespace fs = std::filesystem;

class Note final : public ResourceHandler {
 public:
  Note()
      : ResourceHandler(
            {.token = "example:index:Note",
             .description = "A text in a file of its own.",
             .inputs = {{.name = "folder",
                         .type = SchemaType::String(),
                         .description = "An existing folder.",
                         .required = true,
                         .replace_on_changes = true},
                        {.name = "text", .type = SchemaType::String(), .required = true}},
             .outputs = {{.name = "length", .type = SchemaType::Integer(), .required = true}}}) {}

  Result<CreateResponse> Create(const CreateRequest& request, CallContext& call) override {
    CreateResponse response;
    response.outputs = Outputs(request.inputs);
    if (request.preview) {
      return response;
    }
    const PropertyMap inputs = Plain(request.inputs);
    const std::string name(request.urn.name());
    response.id = (fs::path(*inputs.at("folder").as_string()) / (name + ".txt")).string();
    DAVIT_TRY_VOID(Write(response.id, *inputs.at("text").as_string()));
    call.Log(Severity::kInfo, fmt::format("wrote '{}'", response.id));
    return response;
  }

  Result<ReadResponse> Read(const ReadRequest& request, CallContext&) override {
    ReadResponse response;
    std::ifstream file(request.id);
    if (!file) {
      return response;  // no id: the note is gone
    }
    std::stringstream text;
    text << file.rdbuf();
    PropertyMap inputs;
    inputs["folder"] = fs::path(request.id).parent_path().string();
    inputs["text"] = text.str();
    response.id = request.id;
    response.outputs = Outputs(inputs);
    response.inputs = std::move(inputs);
    return response;
  }

  Result<UpdateResponse> Update(const UpdateRequest& request, CallContext&) override {
    UpdateResponse response;
    response.outputs = Outputs(request.new_inputs);
    if (!request.preview) {
      const PropertyMap inputs = Plain(request.new_inputs);
      DAVIT_TRY_VOID(Write(request.id, *inputs.at("text").as_string()));
    }
    return response;
  }

  Result<void> Delete(const DeleteRequest& request, CallContext&) override {
    std::error_code error;
    fs::remove(request.id, error);
    if (error) {
      return Fail(ErrorKind::kFailed,
                  fmt::format("cannot delete '{}': {}", request.id, error.message()));
    }
    return {};
  }

 private:
  static PropertyMap Outputs(const PropertyMap& inputs) {
    PropertyMap outputs = inputs;
    const PropertyValue text = Plain(inputs.at("text"));
    outputs["length"] = text.is_unknown() ? PropertyValue(Unknown{UnknownKind::kNumber})
                                          : PropertyValue(double(text.as_string()->size()));
    return outputs;
  }
  static Result<void> Write(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::trunc);
    file << text;
    file.close();
    if (!file) {
      return Fail(ErrorKind::kFailed, fmt::format("cannot write '{}'", path));
    }
    return {};
  }
};

}  // namespace
}  // namespace davit::kit

int main(int argc, char** argv) {
  davit::kit::ProviderPackage package;
  package.name = "example";
  package.version = "1.0.0";
  package.resources = {std::make_shared<davit::kit::Note>()};
  return davit::kit::Serve(std::move(package), argc, argv);
}
