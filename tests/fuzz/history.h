#pragma once
// What the fuzz test does to one stack: programs, operations and mishaps, as values that can be
// generated from a seed, printed and made smaller.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/model/urn.h"

namespace davit::fuzz {

enum class Mode { kUnset, kYes, kNo };

/// A resource of a program. References are names of nodes that stand before it.
struct Node {
  enum class Kind { kCustom, kComponent, kProvider, kRead };
  std::string name;
  Kind kind = Kind::kCustom;
  std::string parent;
  std::vector<std::string> after;    ///< dependsOn
  std::vector<std::string> fed_by;   ///< whose ids are inputs `from_NAME`; a change updates
  std::vector<std::string> kept_by;  ///< whose ids are inputs `key_NAME`; a change replaces
  std::string uses;                  ///< its explicit provider
  int value = 0;                     ///< a change updates
  int key = 0;                       ///< a change replaces
  int first = 0;           ///< a change replaces, and the provider wants the old one deleted first
  int note = 0;            ///< the provider sees no difference in a change
  int trigger = 0;         ///< `replacementTrigger`
  bool is_secret = false;  ///< whether `value` is
  bool is_fresh = false;   ///< `refreshBeforeUpdate` by the provider's wish
  Mode delete_first = Mode::kUnset;  ///< `deleteBeforeReplace`
  bool protect = false;
  bool retain = false;
  bool ignores_value = false;
  bool replaces_on_value = false;
  std::string deleted_with;
  std::vector<std::string> replace_with;
  std::vector<std::string> aliases;  ///< URNs of earlier programs
};
using Program = std::vector<Node>;

/// What happens to one call of a provider.
enum class Fault {
  kFails,    ///< nothing is done
  kPartial,  ///< creates and updates: done, with init errors
  kLost,     ///< done, but the answer says that nobody knows
};

/// One operation on the stack.
struct Move {
  enum class Kind { kUp, kPreview, kRefresh, kUpRefresh, kDestroy };
  Kind kind = Kind::kUp;
  Program program;
  std::vector<std::string> targets;  ///< names
  bool target_dependents = false;
  std::vector<std::string> excludes;   ///< names
  std::vector<std::string> replaces;   ///< names
  std::vector<std::string> tainted;    ///< names whose records are tainted before
  bool runs_program = false;           ///< refresh and destroy
  bool continues = false;              ///< continue on error
  std::vector<std::string> vanishing;  ///< names whose objects are removed behind our back before
  std::map<int, Fault> faults;         ///< by number of the call in this operation
  int cancel_at = -1;                  ///< turn of the loop at which the user interrupts
  int crash_at = -1;                   ///< number of journal entries that survive a crash
  int full_at = -1;                    ///< number of journal entries after which the disk is full
  int parallel = 4;
  std::uint64_t order = 0;  ///< seed of the loop
  bool is_disturbed() const {
    return !faults.empty() || cancel_at >= 0 || crash_at >= 0 || full_at >= 0 || !vanishing.empty();
  }
};

struct History {
  std::vector<Move> moves;
};

/// Parts of the engine that a history may use.
struct Features {
  bool targets = false;
  bool excludes = false;
  bool replaces = false;
  bool aliases = false;
  bool continues = false;
  bool programs = false;  ///< refresh and destroy that run the program
  bool fresh = false;     ///< refreshBeforeUpdate
};

/// The history of a seed and features, always the same.
History MakeHistory(std::uint64_t seed, const Features& features);
std::string Text(const History& history);

/// URN of a node of a program.
Urn UrnOf(const Program& program, const std::string& name);
/// Takes a node out, and every reference to it.
void RemoveNode(Program& program, const std::string& name);

/// A history as small as `fails` allows, found by leaving things out; at most `tries` calls.
History Shrink(History history, const std::function<bool(const History&)>& fails, int tries);

}  // namespace davit::fuzz
