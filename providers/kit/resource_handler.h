#pragma once
// What the author of a provider writes: one handler per resource type. Handlers are called on
// worker threads, several at the same time, and may block; what they share they must guard.

#include <stop_token>
#include <string>

#include "engine/base/result.h"
#include "engine/provider.h"
#include "engine/source.h"
#include "providers/kit/package_schema.h"

namespace davit::kit {

/// The call that is being served.
class CallContext {
 public:
  virtual ~CallContext() = default;
  /// Asked to stop when the engine sends Cancel, gives the call up or is gone (P34). A handler that
  /// waits should look at it and answer soon.
  virtual std::stop_token stop() const = 0;
  /// Shows a message on the resource of the call (P90). Never give it a secret.
  virtual void Log(Severity severity, const std::string& message) = 0;
  /// Shows a passing message in the status column.
  virtual void ShowStatus(const std::string& message) = 0;
};

/// One resource type. An error's kind tells the engine what is true afterwards: kFailed says that
/// nothing changed, kOutcomeUnknown that nobody can tell (P76). Success with `init_errors` is a
/// partial failure: the resource exists but is not ready (P77).
class ResourceHandler {
 public:
  explicit ResourceHandler(ResourceSchema schema) : schema_(std::move(schema)) {}
  virtual ~ResourceHandler() = default;
  ResourceHandler(const ResourceHandler&) = delete;
  ResourceHandler& operator=(const ResourceHandler&) = delete;

  const ResourceSchema& schema() const { return schema_; }

  /// By default CheckDeclared.
  virtual Result<CheckResponse> Check(const CheckRequest& request, CallContext& call);
  /// By default DiffDeclared.
  virtual Result<DiffResponse> Diff(const DiffRequest& request, CallContext& call);
  /// In a preview (`request.preview`) nothing may change; outputs that only the real call can know
  /// are Unknown. `inputs` may hold unknowns then.
  virtual Result<CreateResponse> Create(const CreateRequest& request, CallContext& call) = 0;
  /// By default the recorded state, so that a refresh finds no drift; an import fails.
  virtual Result<ReadResponse> Read(const ReadRequest& request, CallContext& call);
  /// By default not offered; fine when every input is `replace_on_changes`.
  virtual Result<UpdateResponse> Update(const UpdateRequest& request, CallContext& call);
  /// Deleting what is gone succeeds.
  virtual Result<void> Delete(const DeleteRequest& request, CallContext& call) = 0;

 private:
  ResourceSchema schema_;
};

}  // namespace davit::kit
