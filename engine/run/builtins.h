#pragma once
// The package `pulumi`, which davit serves itself: stack references, stashes and look-ups of
// resources (E195-E197, P88). Engine thread.

#include <functional>
#include <memory>
#include <string>

#include "engine/provider.h"
#include "engine/source.h"

namespace davit {

struct RunContext;

/// What the package may look at. It outlives one run; a run connects itself for as long as it
/// lasts.
struct BuiltinSources {
  StackReader* stacks = nullptr;  ///< null: there are no other stacks
  std::function<StatePtr(const Urn&)> resource;
  std::function<std::string()> new_uuid;
  std::function<void(const Urn&, const std::string&)> warn;
};

inline constexpr std::string_view kBuiltinPackage = "pulumi";

std::shared_ptr<Provider> MakeBuiltinProvider(std::shared_ptr<const BuiltinSources> sources);

/// Connects the package to a run until destroyed.
class BuiltinConnection {
 public:
  explicit BuiltinConnection(RunContext& context);
  ~BuiltinConnection();
  BuiltinConnection(const BuiltinConnection&) = delete;
  BuiltinConnection& operator=(const BuiltinConnection&) = delete;

 private:
  std::shared_ptr<BuiltinSources> sources_;
};

}  // namespace davit
