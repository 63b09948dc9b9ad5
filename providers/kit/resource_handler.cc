#include "providers/kit/resource_handler.h"

#include <fmt/format.h>

namespace davit::kit {

Result<CheckResponse> ResourceHandler::Check(const CheckRequest& request, CallContext&) {
  return CheckDeclared(schema_.inputs, schema_.token, schema_.accepts_any_input, request.news);
}

Result<DiffResponse> ResourceHandler::Diff(const DiffRequest& request, CallContext&) {
  return DiffDeclared(schema_.inputs, request.old_inputs, request.new_inputs);
}

Result<ReadResponse> ResourceHandler::Read(const ReadRequest& request, CallContext&) {
  if (request.state.empty() && request.inputs.empty()) {
    return Fail(ErrorKind::kRefused, fmt::format("{} cannot be imported", schema_.token));
  }
  ReadResponse response;
  response.id = request.id;
  response.outputs = request.state;
  response.inputs = request.inputs;
  return response;
}

Result<UpdateResponse> ResourceHandler::Update(const UpdateRequest&, CallContext&) {
  return Fail(ErrorKind::kUnimplemented, fmt::format("{} cannot be updated", schema_.token));
}

}  // namespace davit::kit
