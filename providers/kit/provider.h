#pragma once
// A provider plugin: what it offers, and Serve, which is the whole `main` of one.
// docs/PROVIDER_KIT.md walks through an example.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/wire/rpc_status.h"
#include "providers/kit/resource_handler.h"

namespace davit::kit {

/// A function of a package (Invoke); its arguments have passed CheckDeclared.
struct Function {
  FunctionSchema schema;
  std::function<Result<InvokeResponse>(const InvokeRequest& request, CallContext& call)> run;
};

/// A raw answer to a call: the status, and the serialised response when it is ok.
struct RawAnswer {
  RpcStatus status;
  std::string bytes;
};

struct ProviderPackage {
  std::string name;
  std::string version;
  std::string description;
  std::vector<std::shared_ptr<ResourceHandler>> resources;
  std::vector<Function> functions;

  /// Configuration of the provider; a change of a `replace_on_changes` one replaces the provider.
  std::vector<PropertySchema> config;
  /// Called once with the checked configuration, before any resource call; may be empty.
  std::function<Result<void>(const PropertyMap& config, CallContext& call)> configure;

  /// Answers GetSchema instead of the declarations, when not empty.
  std::string schema_json;
  /// Sees each call before the kit does, on the thread that will serve it, and may answer it
  /// itself. `method` is the bare name. For tests and tracing.
  std::function<std::optional<RawAnswer>(
      std::string_view method, const std::string& request, CallContext& call)>
      intercept;
};

/// Serves the package until the engine is gone or SIGINT or SIGTERM arrives: listens on a free port
/// of 127.0.0.1, prints the port line (P26), and stops the calls in flight at the end. Arguments as
/// in P22. Call it first thing in `main`, while there is one thread: it blocks the two signals.
/// Returns the exit status.
int Serve(ProviderPackage package, int argc, char** argv);

}  // namespace davit::kit
