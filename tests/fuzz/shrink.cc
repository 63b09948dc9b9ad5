#include <algorithm>

#include "tests/fuzz/history.h"

namespace davit::fuzz {
namespace {

using Change = std::function<void(History&)>;

// Everything that can be left out of one node.
const std::vector<std::function<void(Node&)>>& NodeChanges() {
  static const std::vector<std::function<void(Node&)>> changes = {
      [](Node& node) { node.parent.clear(); },
      [](Node& node) { node.after.clear(); },
      [](Node& node) { node.fed_by.clear(); },
      [](Node& node) { node.kept_by.clear(); },
      [](Node& node) { node.uses.clear(); },
      [](Node& node) { node.deleted_with.clear(); },
      [](Node& node) { node.replace_with.clear(); },
      [](Node& node) { node.value = 0; },
      [](Node& node) { node.key = 0; },
      [](Node& node) { node.first = 0; },
      [](Node& node) { node.note = 0; },
      [](Node& node) { node.delete_first = Mode::kUnset; },
      [](Node& node) { node.protect = false; },
      [](Node& node) { node.retain = false; },
      [](Node& node) { node.ignores_value = false; },
      [](Node& node) { node.replaces_on_value = false; },
      [](Node& node) { node.trigger = 0; },
      [](Node& node) { node.is_secret = false; },
      [](Node& node) { node.is_fresh = false; },
      [](Node& node) { node.aliases.clear(); },
  };
  return changes;
}

void AddMoveChanges(std::vector<Change>& changes, const Move& move, std::size_t at) {
  const auto edit = [&changes, at](std::function<void(Move&)> change) {
    changes.emplace_back(
        [at, change = std::move(change)](History& history) { change(history.moves[at]); });
  };
  for (const auto& [call, fault] : move.faults) {
    edit([call = call](Move& made) { made.faults.erase(call); });
  }
  edit([](Move& made) { made.cancel_at = -1; });
  edit([](Move& made) { made.crash_at = -1; });
  edit([](Move& made) { made.full_at = -1; });
  edit([](Move& made) { made.vanishing.clear(); });
  edit([](Move& made) { made.targets.clear(); });
  edit([](Move& made) { made.excludes.clear(); });
  edit([](Move& made) { made.replaces.clear(); });
  edit([](Move& made) { made.tainted.clear(); });
  edit([](Move& made) { made.target_dependents = false; });
  edit([](Move& made) { made.runs_program = false; });
  edit([](Move& made) { made.continues = false; });
  for (std::size_t index = 0; index < move.targets.size(); ++index) {
    edit([index](Move& made) {
      made.targets.erase(made.targets.begin() + static_cast<std::ptrdiff_t>(index));
    });
  }
  edit([](Move& made) { made.parallel = 1; });
  edit([](Move& made) { made.order = 0; });
  edit([](Move& made) { made.kind = Move::Kind::kUp; });
  for (const Node& node : move.program) {
    edit([name = node.name](Move& made) { RemoveNode(made.program, name); });
    for (const auto& change : NodeChanges()) {
      edit([name = node.name, &change](Move& made) {
        const auto found = std::ranges::find(made.program, name, &Node::name);
        if (found != made.program.end()) {
          change(*found);
        }
      });
    }
  }
}

std::vector<Change> Changes(const History& history) {
  std::vector<Change> changes;
  for (std::size_t at = 0; at < history.moves.size(); ++at) {
    changes.emplace_back([at](History& made) {
      made.moves.erase(made.moves.begin() + static_cast<std::ptrdiff_t>(at));
    });
  }
  // One node in all programs at once: the edit between two programs stays as it is.
  for (char letter = 'a'; letter < 'j'; ++letter) {
    const std::string name(1, letter);
    changes.emplace_back([name](History& made) {
      for (Move& move : made.moves) {
        RemoveNode(move.program, name);
      }
    });
    for (const auto& change : NodeChanges()) {
      changes.emplace_back([name, &change](History& made) {
        for (Move& move : made.moves) {
          const auto found = std::ranges::find(move.program, name, &Node::name);
          if (found != move.program.end()) {
            change(*found);
          }
        }
      });
    }
  }
  for (std::size_t at = 0; at < history.moves.size(); ++at) {
    AddMoveChanges(changes, history.moves[at], at);
  }
  return changes;
}

}  // namespace

History Shrink(History history, const std::function<bool(const History&)>& fails, int tries) {
  bool has_shrunk = true;
  while (has_shrunk && tries > 0) {
    has_shrunk = false;
    for (const Change& change : Changes(history)) {
      History smaller = history;
      change(smaller);
      if (smaller.moves.empty() || Text(smaller) == Text(history)) {
        continue;
      }
      if (--tries < 0) {
        break;
      }
      if (fails(smaller)) {
        history = std::move(smaller);
        has_shrunk = true;
        break;  // the list of changes is that of the new history
      }
    }
  }
  return history;
}

}  // namespace davit::fuzz
