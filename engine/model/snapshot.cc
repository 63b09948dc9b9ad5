#include "engine/model/snapshot.h"

#include <fmt/format.h>

#include <unordered_set>

#include "engine/model/provider_ref.h"
#include "engine/model/references.h"

namespace davit {

std::string_view OperationTypeName(OperationType type) {
  switch (type) {
    case OperationType::kCreating:
      return "creating";
    case OperationType::kUpdating:
      return "updating";
    case OperationType::kDeleting:
      return "deleting";
    case OperationType::kReading:
      return "reading";
    case OperationType::kImporting:
      return "importing";
  }
  return "creating";
}

std::optional<OperationType> ParseOperationType(std::string_view name) {
  for (const OperationType type : {OperationType::kCreating,
                                   OperationType::kUpdating,
                                   OperationType::kDeleting,
                                   OperationType::kReading,
                                   OperationType::kImporting}) {
    if (OperationTypeName(type) == name) {
      return type;
    }
  }
  return std::nullopt;
}

namespace {

constexpr const char* kRepair =
    "the state was damaged; restore a backup, or correct it with `stack export` and `stack import`";

class Verifier {
 public:
  explicit Verifier(const Snapshot& snapshot) : snapshot_(snapshot) {
    for (const StatePtr& record : snapshot.resources) {
      all_.insert(record->urn);
    }
  }

  std::vector<Error> Run() {
    for (const StatePtr& record : snapshot_.resources) {
      Check(*record);
      seen_.insert(record->urn);
      if (record->urn.is_provider()) {
        providers_.insert(ProviderRef{record->urn, record->id}.Key());
      }
    }
    return std::move(errors_);
  }

 private:
  void Fault(const ResourceState& state, std::string message) {
    Error error = MakeError(ErrorKind::kInvalid, std::move(message), kRepair);
    error.urn = state.urn.text();
    errors_.push_back(std::move(error));
  }

  void CheckReference(const ResourceState& state, ReferenceKind kind, const Urn& urn) {
    if (seen_.contains(urn)) {
      return;
    }
    const std::string_view what = ReferenceKindName(kind);
    Fault(state,
          urn == state.urn ? fmt::format("'{}' is its own {}", urn.text(), what)
          : all_.contains(urn)
              ? fmt::format("'{}' comes before its {} '{}'", state.urn.text(), what, urn.text())
              : fmt::format("'{}' refers to {} '{}', which does not exist",
                            state.urn.text(),
                            what,
                            urn.text()));
  }

  void CheckProvider(const ResourceState& state) {
    if (state.provider.empty()) {
      return;  // files of version 1 name none (S31); the next update gives the default one
    }
    const Result<ProviderRef> reference = ProviderRef::Parse(state.provider);
    if (!reference) {
      Fault(state,
            fmt::format(
                "'{}' has a malformed provider reference '{}'", state.urn.text(), state.provider));
    } else if (!providers_.contains(reference->Key()) && !state.pending_replacement) {
      Fault(
          state,
          all_.contains(reference->urn) && !seen_.contains(reference->urn)
              ? fmt::format("'{}' comes before its provider '{}'", state.urn.text(), state.provider)
              : fmt::format("'{}' uses the provider '{}', which does not exist",
                            state.urn.text(),
                            state.provider));
    }
  }

  void Check(const ResourceState& state) {
    if (state.urn.empty() || state.type.empty()) {
      Fault(
          state,
          fmt::format(
              "a record without {} ('{}')", state.urn.empty() ? "URN" : "type", state.urn.text()));
      return;
    }
    if (!state.custom && !state.id.empty()) {
      Fault(state, fmt::format("the component '{}' has an id", state.urn.text()));
    }
    // What refers to a provider finds the type in its URN (S39).
    if (state.type.starts_with(kProviderTypePrefix) &&
        !(state.urn.is_provider() && Urn::Parse(state.urn.text()))) {
      Fault(state,
            fmt::format("the provider '{}' has a URN that nothing can refer to", state.urn.text()));
    }
    CheckProvider(state);
    VisitDependencies(
        state, [&](ReferenceKind kind, const Urn& urn) { CheckReference(state, kind, urn); });
    if (!state.pending_delete && !live_.insert(state.urn).second) {
      Fault(state, fmt::format("two records have the URN '{}'", state.urn.text()));
    }
  }

  const Snapshot& snapshot_;
  std::unordered_set<Urn> all_;
  std::unordered_set<Urn> seen_;
  std::unordered_set<Urn> live_;
  std::unordered_set<std::string> providers_;
  std::vector<Error> errors_;
};

}  // namespace

std::vector<Error> VerifySnapshot(const Snapshot& snapshot) {
  return Verifier(snapshot).Run();
}

}  // namespace davit
