#include "tests/fuzz/run_history.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/model/snapshot_guard.h"
#include "tests/fuzz/model.h"

namespace davit::fuzz {
namespace {

using testing::CountingIds;
using testing::FakePluginHost;
using testing::RecordingEvents;
using testing::SeededLoop;

/// Keeps what survives of a run, and judges every entry of it.
class FuzzJournal final : public Journal {
 public:
  FuzzJournal(const Snapshot& base, const Move& move, const Cloud& cloud)
      : guard_(base), move_(move), cloud_(cloud) {}

  Task<Result<void>> Append(JournalEntry entry) override {
    co_await testing::Yield();
    if (move_.full_at >= 0 && static_cast<int>(entries.size()) >= move_.full_at) {
      is_full = true;
      co_return Fail(ErrorKind::kFailed, "the disk is full", "free some space");
    }
    if (move_.crash_at >= 0 && static_cast<int>(entries.size()) >= move_.crash_at &&
        !cloud_at_crash) {
      cloud_at_crash =
          cloud_;  // the process is gone; what this run does from here on did not happen
    }
    if (!cloud_at_crash) {
      Judge(entry);
      entries.push_back(std::move(entry));
    }
    co_return Result<void>();
  }

  std::vector<JournalEntry> entries;
  std::optional<Cloud> cloud_at_crash;
  bool is_full = false;
  std::optional<std::string> violation;

 private:
  void Judge(const JournalEntry& entry) {
    const std::vector<Error> errors = guard_.Apply(entry);
    if (!errors.empty() && !violation) {
      violation = fmt::format("after journal entry {} ({}): {}",
                              entries.size() + 1,
                              entry.state ? entry.state->urn.text() : "no record",
                              errors[0].message);
    }
  }

  SnapshotGuard guard_;
  const Move& move_;
  const Cloud& cloud_;
};

class Runner {
 public:
  explicit Runner(Tally* tally) : tally_(tally), model_(host_.behaviour) {}

  std::optional<Finding> Run(const History& history) {
    for (std::size_t index = 0; index < history.moves.size() && !finding_; ++index) {
      stage_ = fmt::format("move {}", index + 1);
      Make(history.moves[index]);
    }
    if (!finding_) {
      Converge(history.moves.back().program);
    }
    return finding_;
  }

 private:
  void Find(std::string kind, const std::string& text) {
    if (!finding_) {
      finding_ = Finding{std::move(kind), fmt::format("{}: {}", stage_, text)};
    }
  }

  // --- one run

  DeploymentOptions OptionsOf(const Move& move) const {
    DeploymentOptions options;
    options.mode = move.kind == Move::Kind::kDestroy   ? DeploymentMode::kDestroy
                   : move.kind == Move::Kind::kRefresh ? DeploymentMode::kRefresh
                                                       : DeploymentMode::kUpdate;
    options.preview = move.kind == Move::Kind::kPreview;
    options.refresh_first = move.kind == Move::Kind::kUpRefresh;
    options.parallel = move.parallel;
    options.target_dependents = move.target_dependents;
    options.run_program = move.runs_program;
    options.continue_on_error = move.continues;
    const auto list = [&](const std::vector<std::string>& names, std::vector<std::string>& urns) {
      for (const std::string& name : names) {
        urns.push_back(UrnOf(move.program, name).text());
      }
    };
    list(move.targets, options.targets);
    list(move.excludes, options.excludes);
    list(move.replaces, options.replaces);
    return options;
  }

  void Vanish(const Move& move) {
    for (const std::string& name : move.vanishing) {
      for (const StatePtr& record : state_.resources) {
        if (record->urn.name() == name && model_.cloud.objects.erase(record->id) > 0) {
          model_.cloud.excused_records.insert(record->id);
        }
      }
    }
  }

  void Taint(const Move& move) {
    for (StatePtr& record : state_.resources) {
      const bool is_named =
          std::ranges::find(move.tainted, record->urn.name()) != move.tainted.end();
      if (is_named && record->custom && !record->urn.is_provider() && !record->pending_delete) {
        auto tainted = std::make_shared<ResourceState>(*record);
        tainted->taint = true;
        record = std::move(tainted);
      }
    }
  }

  void Make(const Move& move) {
    Vanish(move);
    Taint(move);
    model_.Begin(move.faults);
    events_.events.clear();
    host_.log.clear();
    SeededLoop loop(move.order);
    FuzzJournal journal(state_, move, model_.cloud);
    ModelProgram program(move.program);
    CancelSource cancel;
    DeploymentRequest request;
    request.options = OptionsOf(move);
    request.info.project = "proj";
    request.info.stack = "dev";
    request.info.preview = request.options.preview;
    request.base = state_;
    request.source =
        request.options.mode == DeploymentMode::kUpdate || move.runs_program ? &program : nullptr;
    request.journal = &journal;
    request.events = &events_;
    request.ids = &ids_;
    request.pool = MakeProviderPool(loop, host_);
    request.cancel = cancel.token();
    std::shared_ptr<ProviderPool> pool = request.pool;
    std::optional<DeploymentResult> result;
    std::string thrown;
    Start(loop,
          RunDeployment(std::move(request)),
          [&](std::exception_ptr failure, std::optional<DeploymentResult> value) {
            thrown = Text(failure);
            result = std::move(value);
          });
    for (int turn = 0; turn < move.cancel_at && loop.RunOne(); ++turn) {
    }
    if (move.cancel_at >= 0) {
      cancel.Cancel();
    }
    loop.RunUntilIdle();
    bool is_closed = false;
    Start(loop, CloseProviders(pool), [&](std::exception_ptr) { is_closed = true; });
    loop.RunUntilIdle();
    if (!thrown.empty() || !result || !is_closed) {
      Find(thrown.empty() ? "hang" : "exception",
           thrown.empty() ? "the deployment did not end" : thrown);
      return;
    }
    Judge(move, journal, *result);
  }

  static std::string Text(const std::exception_ptr& failure) {
    if (!failure) {
      return {};
    }
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& exception) {
      return exception.what();
    }
  }

  void Judge(const Move& move, FuzzJournal& journal, const DeploymentResult& result) {
    const bool is_preview = move.kind == Move::Kind::kPreview;
    const Snapshot before = state_;
    if (journal.cloud_at_crash) {
      model_.cloud = *journal.cloud_at_crash;
      while (!journal.entries.empty() && journal.entries.back().deferred) {
        journal.entries.pop_back();  // E206: nothing was written after it
      }
    }
    Count(move, journal, result);
    if (journal.violation) {
      Find("invalid snapshot", *journal.violation);
    }
    if (!model_.complaint().empty()) {
      Find("provider call", model_.complaint());
    }
    FindBugs();
    if (is_preview) {
      if (!journal.entries.empty()) {
        Find("preview writes", "a preview wrote to the journal");
      }
      if (model_.changes() > 0) {
        Find("preview changes", "a preview created, updated or deleted something");
      }
    }
    if (!is_preview) {
      state_ = Replay(before, journal.entries);
      const std::vector<Error> faults = VerifySnapshot(state_);
      if (!faults.empty()) {
        Find("invalid snapshot", "at the end: " + faults[0].message);
      }
    }
    if (journal.cloud_at_crash || journal.is_full) {
      for (const std::string& id : model_.deleted()) {  // a deletion that nobody wrote down
        model_.cloud.excused_records.insert(id);
      }
      model_.cloud.excused_inputs.insert(model_.updated().begin(), model_.updated().end());
    }
    CheckObjects(before, journal.entries);
    if (result.kind != DeploymentResultKind::kSucceeded && MustSucceed(move, before)) {
      Find("clean run fails", fmt::format("{}", fmt::join(events_.Problems(), "; ")));
    }
  }

  void Count(const Move& move, const FuzzJournal& journal, const DeploymentResult& result) {
    ++(*tally_)["runs"];
    ++(*tally_)[result.kind == DeploymentResultKind::kSucceeded
                    ? "runs that succeeded"
                    : "runs that failed or were cancelled"];
    (*tally_)["journal entries"] += static_cast<long>(journal.entries.size());
    (*tally_)["crashes"] += journal.cloud_at_crash ? 1 : 0;
    if (move.kind == Move::Kind::kPreview) {
      return;
    }
    for (const std::string& step : events_.Steps()) {
      if (step.starts_with("done ")) {
        ++(*tally_)["done " + step.substr(5, step.rfind(' ') - 5)];
      }
    }
  }

  // A check that did not hold, or a lookup of something that is not there, shows in a message.
  void FindBugs() {
    for (const std::string& problem : events_.Problems()) {
      for (const char* mark : {".cc:", "::at", "_M_", "bad_"}) {
        if (problem.find(mark) != std::string::npos) {
          Find("bug", problem);
        }
      }
    }
  }

  static bool MustSucceed(const Move& move, const Snapshot& before) {
    // Protection and targets are reasons to refuse; what vanished is only noticed by a refresh.
    return !move.is_disturbed() && move.targets.empty() && move.excludes.empty() &&
           move.replaces.empty() && std::ranges::none_of(move.program, &Node::protect) &&
           std::ranges::none_of(before.resources,
                                [](const StatePtr& record) { return record->protect; });
  }

  // --- objects against records

  void CheckObjects(const Snapshot& before, const std::vector<JournalEntry>& entries) {
    std::set<std::string> known;
    for (const StatePtr& record : state_.resources) {
      known.insert(record->id);
    }
    std::set<std::string> abandoned;  // by retainOnDelete, or together with another object
    const auto note = [&](const StatePtr& record) {
      if (record && (record->retain_on_delete || !record->deleted_with.empty())) {
        abandoned.insert(record->id);
      }
    };
    std::ranges::for_each(before.resources, note);
    for (const JournalEntry& entry : entries) {
      note(entry.state);
    }
    std::set<Urn> creating;
    for (const PendingOperation& operation : state_.pending_operations) {
      if (operation.type == OperationType::kCreating) {
        creating.insert(operation.resource->urn);
      }
    }
    Cloud& cloud = model_.cloud;
    for (auto object = cloud.objects.begin(); object != cloud.objects.end();) {
      const auto& [id, held] = *object;
      if (known.contains(id)) {
        ++object;
        continue;
      }
      if (!cloud.excused_objects.contains(id) && !abandoned.contains(id) &&
          !creating.contains(held.urn)) {
        Find("unknown object",
             fmt::format("the object '{}' of '{}' is in no record and no pending operation",
                         id,
                         held.urn.text()));
      }
      object = cloud.objects.erase(object);  // nobody will ask for it again
    }
    for (const StatePtr& record : state_.resources) {
      const bool has_object = record->custom && !record->urn.is_provider() && !record->external &&
                              !record->pending_replacement && !record->urn.is_root_stack();
      if (has_object && !cloud.objects.contains(record->id) &&
          !cloud.excused_records.contains(record->id)) {
        Find("record without object",
             fmt::format("the record '{}' names '{}', which does not exist",
                         record->urn.text(),
                         record->id));
      }
    }
  }

  // --- the end of a history

  void Converge(Program program) {
    for (Node& node : program) {
      node.protect = false;
    }
    for (StatePtr& record : state_.resources) {
      if (record->protect) {
        auto unprotected = std::make_shared<ResourceState>(*record);
        unprotected->protect = false;
        record = std::move(unprotected);
      }
    }
    Move move;
    move.program = program;
    stage_ = "first clean run";
    Make(move);
    stage_ = "second clean run";
    move.order = 7;
    Make(move);
    if (finding_) {
      return;
    }
    const std::vector<std::string> steps = events_.Steps();
    const auto changing = std::ranges::find_if(steps, [](const std::string& step) {
      return step.find(" same ") == std::string::npos && step.find(" read ") == std::string::npos;
    });
    if (changing != steps.end() || model_.changes() > 0) {
      Find("does not converge",
           changing == steps.end() ? "a call changed something"
                                   : "there is still '" + *changing + "'");
    }
    CompareWithProgram(program);
    move.kind = Move::Kind::kDestroy;
    stage_ = "destroy";
    Make(move);
    if (!finding_ && !state_.resources.empty()) {
      Find("destroy leaves records", state_.resources[0]->urn.text());
    }
    if (!finding_ && !model_.cloud.objects.empty()) {
      Find("destroy leaves objects", model_.cloud.objects.begin()->first);
    }
  }

  void CompareWithProgram(const Program& program) {
    std::map<Urn, int> records;
    for (const StatePtr& record : state_.resources) {
      ++records[record->urn];
      if (record->pending_delete || record->pending_replacement || !record->init_errors.empty()) {
        Find("unfinished record", record->urn.text());
      }
      const bool is_extra =
          record->urn.is_root_stack() ||
          (record->urn.is_provider() && record->urn.name().starts_with("default"));
      if (!is_extra && std::ranges::none_of(program, [&](const Node& node) {
            return UrnOf(program, node.name) == record->urn;
          })) {
        Find("extra record", record->urn.text());
      }
    }
    for (const Node& node : program) {
      if (records[UrnOf(program, node.name)] != 1) {
        Find("missing record", node.name);
      } else {
        CompareRecord(program, node);
      }
    }
  }

  StatePtr RecordOf(const Program& program, const std::string& name) const {
    const auto at = std::ranges::find(
        state_.resources, UrnOf(program, name), [](const StatePtr& record) { return record->urn; });
    return at == state_.resources.end() ? nullptr : *at;
  }

  // Whether record and object say what the program says.
  void CompareRecord(const Program& program, const Node& node) {
    const StatePtr record = RecordOf(program, node.name);
    if (!node.parent.empty() && record->parent != UrnOf(program, node.parent)) {
      Find("wrong record",
           fmt::format("the parent of '{}' is '{}'", node.name, record->parent.text()));
    }
    if (node.kind != Node::Kind::kCustom) {
      return;
    }
    PropertyMap expected;
    for (const auto& [name, value] : {std::pair("value", node.value),
                                      {"key", node.key},
                                      {"first", node.first},
                                      {"note", node.note}}) {
      if (value != 0) {
        expected[name] = PropertyValue(value);
      }
    }
    for (const auto& [prefix, list] : {std::pair("from_", node.fed_by), {"key_", node.kept_by}}) {
      for (const std::string& name : list) {
        expected[prefix + name] = PropertyValue(RecordOf(program, name)->id);
      }
    }
    PropertyMap stored = record->inputs;
    stored.erase("fresh");
    if (stored.contains("value") && stored["value"].is_secret()) {
      stored["value"] = PropertyValue(stored["value"].as_secret()->Reveal());
    }
    if (node.ignores_value) {
      stored.erase("value");
      expected.erase("value");
    }
    if (stored != expected) {
      Find("wrong record",
           fmt::format("the inputs of '{}' are not those of the program", node.name));
    }
    const auto object = model_.cloud.objects.find(record->id);
    if (object == model_.cloud.objects.end() || model_.cloud.excused_inputs.contains(record->id)) {
      return;
    }
    PropertyMap held = object->second.inputs;
    PropertyMap recorded = record->inputs;
    held.erase("note");
    recorded.erase("note");
    if (held != recorded) {
      Find("wrong object",
           fmt::format("the object of '{}' has other inputs than its record", node.name));
    }
  }

  Tally* tally_;
  FakePluginHost host_;
  CountingIds ids_;
  ModelProvider model_;
  RecordingEvents events_;
  Snapshot state_;
  std::string stage_;
  std::optional<Finding> finding_;
};

}  // namespace

std::optional<Finding> RunHistory(const History& history, Tally* tally) {
  return Runner(tally).Run(history);
}

}  // namespace davit::fuzz
