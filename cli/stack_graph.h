#pragma once
// The graph of a stack's resources in the language DOT (C41). Pure, any thread.

#include <string>

#include "engine/model/snapshot.h"

namespace davit {

struct StackGraphOptions {
  bool parents = true;
  bool dependencies = true;
  bool short_names = false;
  std::string parent_color;
  std::string dependency_color;
  std::string fragment;  ///< DOT text for the top of the graph
};

/// Nodes in the order of the state. An edge goes from a child to its parent, and from what is
/// depended on to what depends on it, labelled with the properties concerned.
std::string StackGraphText(const Snapshot& snapshot, const StackGraphOptions& options);

}  // namespace davit
