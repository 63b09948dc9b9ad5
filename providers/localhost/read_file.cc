// localhost:index:readFile.

#include "providers/localhost/file_system.h"
#include "providers/localhost/inputs.h"
#include "providers/localhost/resources.h"

namespace davit::localhost {

kit::Function MakeReadFileFunction() {
  using kit::SchemaType;
  kit::Function function;
  function.schema.token = "localhost:index:readFile";
  function.schema.description = "Reads a file of at most 16 MiB.";
  function.schema.inputs = {
      {.name = "path",
       .type = SchemaType::String(),
       .description = "The file. A relative path starts at the program's folder.",
       .required = true}};
  function.schema.outputs = {{.name = "content", .type = SchemaType::String(), .required = true},
                             {.name = "sha256", .type = SchemaType::String(), .required = true},
                             {.name = "size", .type = SchemaType::Integer(), .required = true}};
  function.run = [](const InvokeRequest& request, kit::CallContext&) -> Result<InvokeResponse> {
    InvokeResponse response;
    const PropertyMap plain = Plain(request.args);
    CheckPath(plain, "path", &response.failures);
    const std::string* path = TextOf(plain, "path");
    if (!response.failures.empty()) {
      return response;
    }
    if (path == nullptr) {
      return Fail(ErrorKind::kInvalid, "the path is not known yet");
    }
    DAVIT_TRY(std::string content, ReadFile(AbsolutePath(*path)));
    response.result["sha256"] = Sha256Hex(content);
    response.result["size"] = static_cast<double>(content.size());
    response.result["content"] = std::move(content);
    return response;
  };
  return function;
}

}  // namespace davit::localhost
