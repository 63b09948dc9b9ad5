#include "cli/display/terminal_view.h"

#include <catch2/catch.hpp>

#include "tests/cli/event_script.h"

namespace davit::testing {
namespace {

// What a terminal shows after the text: only the controls that the view uses.
std::vector<std::string> Screen(const std::string& text) {
  std::vector<std::string> lines(1);
  std::size_t row = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      if (++row == lines.size()) {
        lines.emplace_back();
      }
      lines[row].clear();
    } else if (text[i] == '\x1B') {
      const std::size_t end = text.find_first_of("AJm", i);
      if (text[end] == 'A') {
        row -= static_cast<std::size_t>(std::stoi(text.substr(i + 2, end - i - 2)));
        lines[row].clear();
      } else if (text[end] == 'J') {
        lines.resize(row + 1);
      }
      i = end;
    } else if (text[i] != '\r') {
      lines[row] += text[i];
    }
  }
  return lines;
}

std::string Joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) {
    out += line + "\n";
  }
  return out;
}

struct Run : Script {
  explicit Run(TerminalSize given)
      : Script(PlainOptions(DeploymentMode::kUpdate, false)),
        size(given),
        view(options, Sink(), [this] { return size; }) {
    view.Begin();
  }
  TerminalSize size;
  TerminalView view;
};

TEST_CASE("[C92][C97] rows form a tree with padded columns; the last painting stays") {
  Run run({100, 24});
  run.Pre(run.view, MakeStep(StepOp::kCreate, nullptr, StackState({})));
  run.Both(run.view, MakeStep(StepOp::kCreate, nullptr, ThingState("a", {{"v", 1}})));
  run.Both(run.view,
           MakeStep(StepOp::kUpdate,
                    ThingState("long-name", {{"v", 1}}),
                    ThingState("long-name", {{"v", 2}})));
  run.Both(run.view, MakeStep(StepOp::kSame, ThingState("hidden", {}), ThingState("hidden", {})));
  run.Done(run.view, MakeStep(StepOp::kCreate, nullptr, StackState({{"o", 1}})));
  run.Summary(run.view, {{StepOp::kCreate, 2}, {StepOp::kUpdate, 1}, {StepOp::kSame, 1}});
  run.view.Finish();
  CHECK(Joined(Screen(run.text)) == R"(Updating (dev):

     Type                    Name        Status           Info
 +   pulumi:pulumi:Stack     golden-dev  created (0.07s)
 +   ├─ testbed:index:Thing  a           created (0.01s)
 ~   └─ testbed:index:Thing  long-name   updated (0.01s)  [diff: ~v]

Outputs:
    o: 1

Resources:
    + 2 created
    ~ 1 updated
    3 changes. 1 unchanged

Duration: 1s

)");
}

TEST_CASE("[C103] repaints come at most every 16 ms and stay inside the window") {
  Run run({30, 10});
  run.Pre(run.view, MakeStep(StepOp::kCreate, nullptr, StackState({})));
  const std::string after_first = run.text;
  run.view.Emit(ResourcePreEvent{MakeStep(StepOp::kCreate, nullptr, ThingState("a", {}))},
                run.now + std::chrono::milliseconds(3));
  CHECK(run.text == after_first);
  for (int i = 0; i < 30; ++i) {
    run.now += std::chrono::seconds(1);
    run.Pre(run.view,
            MakeStep(StepOp::kCreate, nullptr, ThingState("thing-" + std::to_string(i), {})));
  }
  const std::vector<std::string> screen = Screen(run.text);
  CHECK(screen.size() <= 10);
  bool has_footer = false;
  for (const std::string& line : screen) {
    CHECK(DisplayWidth(line) < 30);
    has_footer = has_footer || line.find("more above)") != std::string::npos;
  }
  CHECK(has_footer);
  CHECK(Joined(screen).find("thing-29") == std::string::npos);  // cut off by the width
}

TEST_CASE(
    "[C103] a long name does not push the status out of sight, and wide characters count two") {
  CHECK(DisplayWidth("日本") == 4);
  CHECK(DisplayWidth("e\xCC\x81") == 1);  // an accent that joins its letter
  CHECK(CutToWidth("日本", 3) == "日");
  Run run({60, 10});
  const auto thing = ThingState("日本-" + std::string(60, 'n'), {});
  run.Pre(run.view, MakeStep(StepOp::kCreate, nullptr, StackState({})));
  run.Pre(run.view, MakeStep(StepOp::kCreate, nullptr, thing));
  for (const std::string& line : Screen(run.text)) {
    CHECK(DisplayWidth(line) < 60);
  }
  run.Done(run.view, MakeStep(StepOp::kCreate, nullptr, thing));
  run.view.Finish();
  CHECK(Joined(Screen(run.text)).find("日本-nnn") != std::string::npos);
  CHECK(Joined(Screen(run.text)).find("…  created (0.01s)\n") != std::string::npos);
}

TEST_CASE("[C97] parents of a row that changes are shown") {
  Run run({120, 24});
  const StatePtr group = MakeState(ThingUrn("group"), {}, {});
  ResourceState child = *ThingState("child", {});
  child.parent = group->urn;
  run.Both(run.view, MakeStep(StepOp::kSame, StackState({}), StackState({})));
  run.Both(run.view, MakeStep(StepOp::kSame, group, group));
  run.Both(run.view,
           MakeStep(StepOp::kCreate, nullptr, std::make_shared<const ResourceState>(child)));
  run.view.Finish();
  const std::string screen = Joined(Screen(run.text));
  CHECK(screen.find("     └─ testbed:index:Thing     group") != std::string::npos);
  CHECK(screen.find(" +      └─ testbed:index:Thing  child") != std::string::npos);
}

}  // namespace
}  // namespace davit::testing
