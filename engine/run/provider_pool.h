#pragma once
// Provider processes that outlive one run (P42): a preview and its update share process and
// Configure, and a schema comes from the process that will serve the resources. Engine thread.

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/cancel.h"
#include "engine/base/waiting.h"
#include "engine/provider.h"
#include "engine/run/builtins.h"

namespace davit {

/// One process and what has been done to it.
struct ProviderInstance {
  std::shared_ptr<Provider> provider;
  PluginSpec spec;
  Urn configured_urn;
  /// Inputs that Configure was sent with; absent: not configured.
  std::optional<PropertyMap> configured_with;
  /// Configure was not sent because an input is unknown (P50); every call then answers for itself
  /// (E113).
  bool is_config_unknown = false;
  /// Extension packages that the process was given, or is being given, by their reference (E180).
  struct Extending {
    Gate done;
    std::optional<Error> error;
  };
  std::map<std::string, std::shared_ptr<Extending>> extensions;
};
using InstancePtr = std::shared_ptr<ProviderInstance>;

/// Schemas that plugins gave in earlier runs (yaml.md C61).
class SchemaStore {
 public:
  virtual ~SchemaStore() = default;
  /// What the plugin that `spec` stands for gave; absent when that is not known.
  virtual std::optional<std::string> Find(const PluginSpec& spec) = 0;
  /// Keeps it. Failing to is no failure of the run.
  virtual void Keep(const PluginSpec& spec, const std::string& schema) = 0;
};

class ProviderPool {
 public:
  ProviderPool(Loop& loop, PluginHost& host) : loop_(loop), host_(host) {}

  /// Schemas are looked for in `store` first, which outlives the pool.
  void UseSchemas(SchemaStore& store) { schemas_ = &store; }

  /// Begins to load a process that a later Take will find; failures show up at Take.
  void Preload(PluginSpec spec);
  /// A process for `spec`: one already configured with `wanted` for this URN, else an unconfigured
  /// one, else a new one. `wanted` null: unconfigured only.
  Task<Result<InstancePtr>> Take(PluginSpec spec,
                                 Urn urn,
                                 const PropertyMap* wanted,
                                 CancelToken cancel);
  /// Gives a process back for a later run.
  void Return(InstancePtr instance);
  /// The schema of a package (P108); a process is started only when no store has it (C61, C62).
  Task<Result<std::string>> GetSchema(PluginSpec spec, CancelToken cancel);
  /// Asks all processes to abandon their calls (E35).
  Task<void> CancelAll();
  /// What the built-in package looks at.
  const std::shared_ptr<BuiltinSources>& builtins() const { return builtins_; }
  /// Closes every process.
  Task<void> CloseAll();

 private:
  struct Loading {
    PluginSpec spec;
    Completion<Result<std::shared_ptr<Provider>>> done;
  };
  Task<void> Load(std::shared_ptr<Loading> loading, CancelToken cancel);
  Task<void> CloseOne(std::shared_ptr<Provider> provider);
  InstancePtr TakeIdle(const PluginSpec& spec, const Urn& urn, const PropertyMap* wanted);

  Loop& loop_;
  PluginHost& host_;
  SchemaStore* schemas_ = nullptr;
  Scope scope_{loop_};
  CancelSource stop_;
  std::shared_ptr<BuiltinSources> builtins_ = std::make_shared<BuiltinSources>();
  std::vector<InstancePtr> idle_;
  std::vector<std::shared_ptr<Loading>> loading_;  ///< begun by Preload, claimed by nobody yet
  std::vector<std::weak_ptr<Provider>> all_;
};

}  // namespace davit
