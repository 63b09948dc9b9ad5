#include "tests/fuzz/history.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <random>
#include <set>

namespace davit::fuzz {
namespace {

class Generator {
 public:
  Generator(std::uint64_t seed, const Features& features)
      : random_(seed * 0x9E3779B97F4A7C15ULL + 1), features_(features) {}

  History Make() {
    History history;
    Program program;
    const std::size_t moves = 2 + Below(5);
    for (std::size_t index = 0; index < moves; ++index) {
      const Program before = program;
      Evolve(program, index == 0 ? 4 + Below(8) : Below(5));
      SettleAliases(before, program);
      history.moves.push_back(MakeMove(program));
    }
    return history;
  }

 private:
  std::size_t Below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }
  bool Percent(std::size_t chance) { return Below(100) < chance; }
  std::string RandomName() { return std::string(1, static_cast<char>('a' + Below(9))); }
  int Small() { return static_cast<int>(Below(3)); }

  static const Node* Find(const Program& program, const std::string& name) {
    const auto at = std::ranges::find(program, name, &Node::name);
    return at == program.end() ? nullptr : &*at;
  }

  // Some node before `end` that `fits`; empty when none was hit.
  template <typename Fits>
  std::string Earlier(const Program& program, std::size_t end, Fits fits) {
    if (end == 0) {
      return {};
    }
    const Node& node = program[Below(end)];
    return fits(node) ? node.name : std::string();
  }

  void Refer(const Program& program, std::size_t at, Node& node) {
    const auto any = [](const Node&) { return true; };
    const auto is_custom = [](const Node& other) { return other.kind == Node::Kind::kCustom; };
    const auto is_no_provider = [](const Node& other) {
      return other.kind != Node::Kind::kProvider;
    };
    const auto is_provider = [](const Node& other) { return other.kind == Node::Kind::kProvider; };
    const auto add = [](std::vector<std::string>& list, const std::string& name) {
      if (!name.empty() && std::ranges::find(list, name) == list.end()) {
        list.push_back(name);
      }
    };
    node.parent.clear();
    node.after.clear();
    node.fed_by.clear();
    node.kept_by.clear();
    node.uses.clear();
    node.deleted_with.clear();
    node.replace_with.clear();
    if (Percent(30)) {
      add(node.after, Earlier(program, at, any));
    }
    if (node.kind != Node::Kind::kComponent &&
        Percent(node.kind == Node::Kind::kProvider ? 20 : 50)) {
      add(node.fed_by, Earlier(program, at, is_custom));
    }
    if (node.kind == Node::Kind::kProvider) {
      return;
    }
    if (Percent(30)) {
      node.parent = Earlier(program, at, is_no_provider);
    }
    if (node.kind == Node::Kind::kComponent) {
      return;
    }
    if (Percent(25)) {
      add(node.kept_by, Earlier(program, at, is_custom));
    }
    if (Percent(40)) {
      node.uses = Earlier(program, at, is_provider);
    }
    if (Percent(8)) {
      node.deleted_with = Earlier(program, at, is_custom);
    }
    if (Percent(8)) {
      add(node.replace_with, Earlier(program, at, is_custom));
    }
  }

  void SetOptions(Node& node) {
    node.delete_first = Percent(10) ? Mode::kYes : Percent(5) ? Mode::kNo : Mode::kUnset;
    node.protect = Percent(4);
    node.retain = Percent(5);
    node.ignores_value = Percent(6);
    node.replaces_on_value = Percent(6);
    node.is_fresh = features_.fresh && Percent(15);
  }

  void Insert(Program& program) {
    Node node;
    node.name = RandomName();
    if (Find(program, node.name) != nullptr) {
      return;
    }
    node.kind = Percent(15)   ? Node::Kind::kProvider
                : Percent(25) ? Node::Kind::kComponent
                : Percent(8)  ? Node::Kind::kRead
                              : Node::Kind::kCustom;
    node.value = Small();
    const std::size_t at = Below(program.size() + 1);
    Refer(program, at, node);
    if (node.kind == Node::Kind::kCustom) {
      SetOptions(node);
    }
    program.insert(program.begin() + static_cast<std::ptrdiff_t>(at), node);
  }

  // Moves a node; what it or others can no longer refer to is forgotten.
  void Displace(Program& program) {
    Node node = program[Below(program.size())];
    RemoveNode(program, node.name);
    const std::size_t at = Below(program.size() + 1);
    Refer(program, at, node);
    program.insert(program.begin() + static_cast<std::ptrdiff_t>(at), node);
  }

  void Rename(Program& program, std::size_t at) {
    const std::string before = program[at].name;
    const std::string name = RandomName();
    if (Find(program, name) != nullptr) {
      return;
    }
    program[at].aliases.push_back(UrnOf(program, before).text());
    for (Node& node : program) {
      for (std::vector<std::string>* list :
           {&node.after, &node.fed_by, &node.kept_by, &node.replace_with}) {
        std::ranges::replace(*list, before, name);
      }
      for (std::string* reference : {&node.name, &node.parent, &node.uses, &node.deleted_with}) {
        *reference = *reference == before ? name : *reference;
      }
    }
  }

  // A node that kept its name but not its URN mostly gets the old one as an alias; aliases that
  // would collide go.
  void SettleAliases(const Program& before, Program& program) {
    std::set<std::string> taken;
    for (const Node& node : program) {
      taken.insert(UrnOf(program, node.name).text());
    }
    for (Node& node : program) {
      const Urn old_urn = UrnOf(before, node.name);
      if (features_.aliases && !old_urn.empty() && old_urn != UrnOf(program, node.name) &&
          Percent(70)) {
        node.aliases.push_back(old_urn.text());
      }
      std::erase_if(node.aliases,
                    [&](const std::string& alias) { return !taken.insert(alias).second; });
    }
  }

  void Evolve(Program& program, std::size_t edits) {
    for (std::size_t edit = 0; edit < edits; ++edit) {
      if (program.size() < 3 || Percent(25)) {
        Insert(program);
        continue;
      }
      const std::size_t at = Below(program.size());
      Node& node = program[at];
      switch (Below(12)) {
        case 0:
          RemoveNode(program, std::string(node.name));
          break;
        case 1:
          node.value = Small();
          break;
        case 2:
        case 3:
          node.key = Small();
          break;
        case 4:
          node.first = Small();
          break;
        case 5:
          node.note = Small();
          break;
        case 6:
          Refer(program, at, node);
          break;
        case 7:
          if (node.kind == Node::Kind::kCustom) {
            SetOptions(node);
          }
          break;
        case 8:
          node.trigger = Small();
          break;
        case 9:
          node.is_secret = !node.is_secret;
          break;
        case 10:
          if (features_.aliases) {
            Rename(program, at);
          } else if (node.kind == Node::Kind::kCustom || node.kind == Node::Kind::kRead) {
            node.kind = node.kind == Node::Kind::kRead ? Node::Kind::kCustom : Node::Kind::kRead;
          }
          break;
        default:
          Displace(program);
      }
    }
  }

  Move MakeMove(const Program& program) {
    Move move;
    move.kind = Percent(60)   ? Move::Kind::kUp
                : Percent(25) ? Move::Kind::kPreview
                : Percent(35) ? Move::Kind::kRefresh
                : Percent(50) ? Move::Kind::kUpRefresh
                              : Move::Kind::kDestroy;
    move.program = program;
    move.parallel = Percent(25) ? 1 : 4;
    move.order = random_();
    const auto choose = [&](bool wanted, std::size_t chance) {
      std::vector<std::string> names;
      if (wanted && !program.empty() && Percent(chance)) {
        for (std::size_t count = 1 + Below(3); count > 0; --count) {
          names.push_back(program[Below(program.size())].name);
        }
      }
      return names;
    };
    move.excludes = choose(features_.excludes, 10);
    move.replaces = choose(features_.replaces, 10);
    move.tainted = choose(true, 6);
    move.runs_program = features_.programs && Percent(50);
    move.continues = features_.continues && Percent(30);
    move.target_dependents = features_.targets && Percent(30);
    if (features_.targets && move.excludes.empty() && Percent(15) && !program.empty()) {
      for (std::size_t count = 1 + Below(3); count > 0; --count) {
        move.targets.push_back(program[Below(program.size())].name);
      }
    }
    if (Percent(12) && !program.empty()) {
      move.vanishing.push_back(program[Below(program.size())].name);
    }
    if (Percent(35)) {
      for (std::size_t count = 1 + Below(2); count > 0; --count) {
        move.faults[static_cast<int>(Below(24))] = static_cast<Fault>(Below(3));
      }
    }
    if (Percent(10)) {
      move.cancel_at = static_cast<int>(Below(300));
    } else if (Percent(15)) {
      move.crash_at = static_cast<int>(Below(30));
    } else if (Percent(4)) {
      move.full_at = static_cast<int>(Below(20));
    }
    return move;
  }

  std::mt19937_64 random_;
  Features features_;
};

std::string Text(const Node& node) {
  std::string text = fmt::format("{} {}",
                                 node.kind == Node::Kind::kProvider    ? "provider"
                                 : node.kind == Node::Kind::kComponent ? "component"
                                 : node.kind == Node::Kind::kRead      ? "read"
                                                                       : "custom",
                                 node.name);
  const auto name = [&](const char* what, const std::string& value) {
    text += value.empty() ? std::string() : fmt::format(" {}={}", what, value);
  };
  const auto number = [&](const char* what, int value) {
    name(what, value == 0 ? "" : std::to_string(value));
  };
  const auto flag = [&](const char* what, bool value) {
    text += value ? std::string(" ") + what : std::string();
  };
  name("parent", node.parent);
  name("after", fmt::format("{}", fmt::join(node.after, ",")));
  name("from", fmt::format("{}", fmt::join(node.fed_by, ",")));
  name("key-from", fmt::format("{}", fmt::join(node.kept_by, ",")));
  name("provider", node.uses);
  number("value", node.value);
  number("key", node.key);
  number("first", node.first);
  number("note", node.note);
  number("trigger", node.trigger);
  flag("secret", node.is_secret);
  flag("fresh", node.is_fresh);
  flag("delete-first", node.delete_first == Mode::kYes);
  flag("create-first", node.delete_first == Mode::kNo);
  flag("protect", node.protect);
  flag("retain", node.retain);
  flag("ignores-value", node.ignores_value);
  flag("replaces-on-value", node.replaces_on_value);
  name("deletedWith", node.deleted_with);
  name("replaceWith", fmt::format("{}", fmt::join(node.replace_with, ",")));
  name("aliases", fmt::format("{}", fmt::join(node.aliases, ",")));
  return text;
}

const char* KindText(Move::Kind kind) {
  switch (kind) {
    case Move::Kind::kUp:
      return "up";
    case Move::Kind::kPreview:
      return "preview";
    case Move::Kind::kRefresh:
      return "refresh";
    case Move::Kind::kUpRefresh:
      return "up --refresh";
    case Move::Kind::kDestroy:
      return "destroy";
  }
  return "up";
}

const char* FaultText(Fault fault) {
  switch (fault) {
    case Fault::kFails:
      return "fails";
    case Fault::kPartial:
      return "in part";
    case Fault::kLost:
      return "answer lost";
  }
  return "fails";
}

}  // namespace

History MakeHistory(std::uint64_t seed, const Features& features) {
  return Generator(seed, features).Make();
}

std::string Text(const History& history) {
  std::string text;
  for (const Move& move : history.moves) {
    text += fmt::format("{} parallel={} order={}", KindText(move.kind), move.parallel, move.order);
    const auto names = [&](const char* what, const std::vector<std::string>& list) {
      text += list.empty() ? std::string() : fmt::format(" {}={}", what, fmt::join(list, ","));
    };
    names("targets", move.targets);
    names("excludes", move.excludes);
    names("replaces", move.replaces);
    names("tainted", move.tainted);
    names("vanished", move.vanishing);
    text += move.target_dependents ? " with-dependents" : "";
    text += move.runs_program ? " run-program" : "";
    text += move.continues ? " continue-on-error" : "";
    for (const auto& [call, fault] : move.faults) {
      text += fmt::format(" call-{}={}", call, FaultText(fault));
    }
    for (const auto& [what, at] : {std::pair("cancel", move.cancel_at),
                                   {"crash", move.crash_at},
                                   {"disk-full", move.full_at}}) {
      text += at < 0 ? std::string() : fmt::format(" {}-at={}", what, at);
    }
    text += "\n";
    for (const Node& node : move.program) {
      text += "    " + Text(node) + "\n";
    }
  }
  return text;
}

Urn UrnOf(const Program& program, const std::string& name) {
  const auto node = std::ranges::find(program, name, &Node::name);
  if (node == program.end()) {
    return {};
  }
  const char* type = node->kind == Node::Kind::kProvider    ? "pulumi:providers:test"
                     : node->kind == Node::Kind::kComponent ? "test:index:Group"
                                                            : "test:index:Thing";
  return Urn::Make(
      "dev", "proj", node->parent.empty() ? Urn() : UrnOf(program, node->parent), type, name);
}

void RemoveNode(Program& program, const std::string& name) {
  std::erase_if(program, [&](const Node& node) { return node.name == name; });
  for (Node& node : program) {
    for (std::vector<std::string>* list :
         {&node.after, &node.fed_by, &node.kept_by, &node.replace_with}) {
      std::erase(*list, name);
    }
    for (std::string* reference : {&node.parent, &node.uses, &node.deleted_with}) {
      if (*reference == name) {
        reference->clear();
      }
    }
  }
}

}  // namespace davit::fuzz
