#include "cli/pending_creates.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace davit {
namespace {

bool IsCreate(const PendingOperation& operation) {
  return operation.type == OperationType::kCreating;
}

// The record takes the place of the one it was to replace, if any.
void Adopt(const ResourceState& begun, const std::string& id, std::vector<StatePtr>* resources) {
  for (StatePtr& record : *resources) {
    if (record->urn == begun.urn && !record->pending_delete) {
      auto old = std::make_shared<ResourceState>(*record);
      old->pending_delete = true;
      record = std::move(old);
    }
  }
  auto adopted = std::make_shared<ResourceState>(begun);
  adopted->id = id;
  resources->push_back(std::move(adopted));
}

}  // namespace

std::vector<Urn> PendingCreates(const Snapshot& snapshot) {
  std::vector<Urn> urns;
  for (const PendingOperation& operation : snapshot.pending_operations) {
    if (IsCreate(operation)) {
      urns.push_back(operation.resource->urn);
    }
  }
  return urns;
}

Result<std::map<Urn, std::string>> ParseAdopted(const std::vector<std::string>& words) {
  constexpr const char* kAdvice = "give the flag twice for each: with the URN, then with the id";
  if (words.size() % 2 != 0) {
    return Fail(
        ErrorKind::kInvalid, fmt::format("'{}' has no id beside it", words.back()), kAdvice);
  }
  std::map<Urn, std::string> adopted;
  for (std::size_t at = 0; at < words.size(); at += 2) {
    Result<Urn> urn = Urn::Parse(words[at]);
    if (!urn) {
      Error error = std::move(urn).error();
      error.advice = kAdvice;
      return Fail(std::move(error));
    }
    if (words[at + 1].empty()) {
      return Fail(ErrorKind::kInvalid, fmt::format("the id for '{}' is empty", words[at]), kAdvice);
    }
    adopted[*urn] = words[at + 1];
  }
  return adopted;
}

Result<void> SettlePendingCreates(const PendingCreateChoices& choices, Snapshot* snapshot) {
  const std::vector<Urn> pending = PendingCreates(*snapshot);
  for (const auto& [urn, id] : choices.adopted) {
    if (std::ranges::find(pending, urn) == pending.end()) {
      return Fail(ErrorKind::kInvalid,
                  fmt::format("no create of '{}' is pending", urn.text()),
                  "`davit stack export` lists what is, under `pending_operations`");
    }
  }
  std::vector<PendingOperation> left;
  for (PendingOperation& operation : snapshot->pending_operations) {
    const Urn& urn = operation.resource->urn;
    const auto id = choices.adopted.find(urn);
    if (IsCreate(operation) && id != choices.adopted.end()) {
      Adopt(*operation.resource, id->second, &snapshot->resources);
    } else if (!IsCreate(operation) ||
               std::ranges::find(choices.cleared, urn) == choices.cleared.end()) {
      left.push_back(std::move(operation));
    }
  }
  snapshot->pending_operations = std::move(left);
  return {};
}

}  // namespace davit
