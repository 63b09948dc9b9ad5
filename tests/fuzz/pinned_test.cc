// Histories that once showed a fault, and the tools of the fuzz test themselves.
#include <catch2/catch.hpp>

#include "tests/fuzz/run_history.h"

namespace davit::fuzz {
namespace {

Node Custom(const std::string& name) {
  Node node;
  node.name = name;
  return node;
}

Node Of(Node::Kind kind, const std::string& name) {
  Node node = Custom(name);
  node.kind = kind;
  return node;
}

Move Up(Program program) {
  Move move;
  move.program = std::move(program);
  return move;
}

// "kind: text", or nothing.
std::string Outcome(const History& history) {
  Tally tally;
  const std::optional<Finding> finding = RunHistory(history, &tally);
  return finding ? finding->kind + ": " + finding->text : std::string();
}

}  // namespace

TEST_CASE("[E89] [S40] a read record goes with its provider that is replaced delete-first") {
  Node provider = Of(Node::Kind::kProvider, "c");
  Node read = Of(Node::Kind::kRead, "h");
  read.uses = "c";
  Node changed = provider;
  changed.first = 2;
  CHECK(Outcome({{Up({provider, read}), Up({changed})}}).empty());
  CHECK(Outcome({{Up({provider, read}), Up({changed, read})}}).empty());
  History crashes{{Up({provider, read}), Up({changed, read}), Up({changed, read})}};
  for (int at = 0; at < 12; ++at) {
    INFO("crash after " << at << " entries");
    crashes.moves[1].crash_at = at;
    CHECK(Outcome(crashes).empty());
  }
}

TEST_CASE("[E90] [E93] a replacement with a cascade survives a crash at every journal entry") {
  Node a = Custom("a");
  Node b = Custom("b");
  b.kept_by = {"a"};
  Node c = Of(Node::Kind::kComponent, "c");
  c.after = {"b"};
  Node d = Custom("d");
  d.parent = "c";
  d.deleted_with = "b";
  Node changed = a;
  changed.first = 1;
  History history{{Up({a, b, c, d}), Up({changed, b, c, d}), Up({changed, b, c, d})}};
  CHECK(Outcome(history).empty());
  for (int at = 0; at < 30; ++at) {
    INFO("crash after " << at << " entries");
    history.moves[1].crash_at = at;
    CHECK(Outcome(history).empty());
    history.moves[2].program.pop_back();
    CHECK(Outcome(history).empty());
    history.moves[2].program.push_back(d);
  }
}

TEST_CASE(
    "[S40] a deleted record is dropped and refreshed without its provider, which may be gone") {
  const Node provider = Of(Node::Kind::kProvider, "c");
  Node user = Custom("d");
  user.uses = "c";
  Node changed = provider;
  changed.first = 2;
  History history{{Up({provider, user}), Up({changed, Custom("d")}), Up({})}};
  history.moves[1].crash_at = 8;
  CHECK(Outcome(history).empty());
  history.moves[2].kind = Move::Kind::kRefresh;
  CHECK(Outcome(history).empty());
}

TEST_CASE("[E153] a destroy that runs the program deletes nothing that was only read") {
  Move destroy = Up({Custom("g")});
  destroy.kind = Move::Kind::kDestroy;
  destroy.runs_program = true;
  CHECK(Outcome({{Up({Of(Node::Kind::kRead, "g")}), destroy}}).empty());
  destroy.program.clear();
  CHECK(
      Outcome({{destroy}}).empty());  // [E23] the root stack is gone before its outputs are stored
}

TEST_CASE("[S198] a seed always makes the same history") {
  for (std::uint64_t seed = 1; seed < 50; ++seed) {
    CHECK(Text(MakeHistory(seed, {})) == Text(MakeHistory(seed, {})));
  }
  CHECK(Text(MakeHistory(1, {})) != Text(MakeHistory(2, {})));
}

TEST_CASE("[S198] shrinking leaves what is needed and nothing else") {
  const auto fails = [](const History& history) {
    for (const Move& move : history.moves) {
      for (const Node& node : move.program) {
        if (node.key == 2) {
          return true;
        }
      }
    }
    return false;
  };
  int shrunk = 0;
  for (std::uint64_t seed = 1; seed < 40; ++seed) {
    const History history = MakeHistory(seed, {});
    if (fails(history)) {
      const History small = Shrink(history, fails, 4000);
      CHECK(fails(small));
      CHECK(small.moves.size() == 1);
      CHECK(small.moves[0].program.size() == 1);
      CHECK_FALSE(small.moves[0].is_disturbed());
      ++shrunk;
    }
  }
  CHECK(shrunk > 5);
}

}  // namespace davit::fuzz
