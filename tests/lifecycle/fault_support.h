#pragma once
// What the tests of publicly reported faults (docs/spec/faults.md) share.

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/engine_fakes.h"

namespace davit::testing {

using Lines = std::vector<std::string>;

inline bool Mentions(const Lines& lines, const std::string& text) {
  return std::ranges::any_of(
      lines, [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

/// Whether a note that is neither warning nor error was shown.
inline bool WasNoted(const FakeStack& stack, const std::string& text) {
  return std::ranges::any_of(stack.events.events, [&](const Event& event) {
    const auto* note = std::get_if<DiagnosticEvent>(&event);
    return note != nullptr && note->severity == Severity::kInfo &&
           note->message.find(text) != std::string::npos;
  });
}

inline std::string ThingUrn(const std::string& name) {
  return "urn:pulumi:dev::proj::test:index:Thing::" + name;
}

/// Read that finds nothing under these names, and everything else as it was.
inline std::function<Result<ReadResponse>(const ReadRequest&)> GoneAre(Lines names) {
  return [names](const ReadRequest& request) {
    ReadResponse response;
    if (std::ranges::find(names, std::string(request.urn.name())) == names.end()) {
      response.id = request.id;
      response.inputs = request.inputs;
      response.outputs = request.state;
    }
    return response;
  };
}

/// Whether each state that the disk could show during the last run is sound: after every entry.
inline bool WasSoundThroughout(const FakeStack& stack, const Snapshot& before) {
  for (std::size_t count = 0; count <= stack.journal.entries.size(); ++count) {
    const std::vector<JournalEntry> written(
        stack.journal.entries.begin(),
        stack.journal.entries.begin() + static_cast<std::ptrdiff_t>(count));
    if (!VerifySnapshot(Replay(before, written)).empty()) {
      return false;
    }
  }
  return true;
}

/// Whether a record names the URN in any of the ways that records can.
inline bool RefersTo(const ResourceState& state, const Urn& urn) {
  return std::ranges::count(DependenciesOf(state), urn) > 0 ||
         state.provider.starts_with(urn.text() + "::");
}

inline FakeResource ProviderResource(const std::string& name, PropertyMap properties = {}) {
  return {.name = name, .properties = std::move(properties), .type = "pulumi:providers:test"};
}

/// The alias of a resource that had another name.
inline std::function<void(Goal&)> WasNamed(const std::string& name) {
  return [name](Goal& goal) {
    AliasSpec alias;
    alias.name = name;
    goal.aliases.push_back(std::move(alias));
  };
}

}  // namespace davit::testing
