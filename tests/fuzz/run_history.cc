#include "tests/fuzz/run_history.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tests/fuzz/compare.h"
#include "tests/fuzz/fuzz_journal.h"
#include "tests/fuzz/model.h"

namespace davit::fuzz {
namespace {

using testing::CountingIds;
using testing::FakePluginHost;
using testing::RecordingEvents;
using testing::SeededLoop;

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
      const std::string op = step.substr(5, step.rfind(' ') - 5);
      return op != "same" && op != "read" && op != "refresh";
    });
    if (changing != steps.end() || model_.changes() > 0) {
      Find("does not converge",
           changing == steps.end() ? "a call changed something"
                                   : "there is still '" + *changing + "'");
    }
    if (const std::optional<Finding> difference = Compare(program, state_, model_.cloud)) {
      Find(difference->kind, difference->text);
    }
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
