#pragma once
// Which transforms a registration or invoke goes through, and in which order (E183-E186, P104).
// Engine thread.

#include <map>
#include <unordered_map>
#include <vector>

#include "engine/callbacks.h"
#include "engine/source.h"

namespace davit {

class TransformTable {
 public:
  void AddForStack(Transform transform) { stack_.push_back(std::move(transform)); }
  void AddForInvokes(InvokeTransform transform) { invokes_.push_back(std::move(transform)); }

  /// Whether a registration without transforms of its own can do without Apply.
  bool empty() const { return stack_.empty() && !has_own_ && kept_.empty(); }
  /// Notes a registration that does.
  void Pass(const Urn& urn, const Urn& parent) { registered_[urn].parent = parent; }
  /// Keeps the own transforms of a remote component for its registration by the provider (E186).
  void Keep(const Urn& urn, std::vector<Transform> own);
  /// The goal after its own transforms, those of its ancestors from the parent upward, and the
  /// stack's. The own ones stay for the children. With own ones, properties become output values
  /// before and dependencies are found anew afterwards (E54).
  Task<Result<Goal>> Apply(Urn urn, Goal goal, std::vector<Transform> own);
  /// The invoke after all invoke transforms, in the order of their registration (E183).
  Task<Result<InvokeGoal>> Apply(InvokeGoal goal);

 private:
  struct Registered {
    Urn parent;
    std::vector<Transform> own;
  };
  std::unordered_map<Urn, Registered> registered_;
  bool has_own_ = false;  ///< some registration had
  std::map<Urn, std::vector<Transform>> kept_;
  std::vector<Transform> stack_;
  std::vector<InvokeTransform> invokes_;
};

}  // namespace davit
