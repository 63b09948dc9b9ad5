// What SnapshotGuard costs per journal entry in stacks of three sizes: every record has a parent,
// two dependencies and a provider; a third is replaced, the others are the same. Prints the ratio
// to the smallest.
#include <fmt/format.h>

#include <ctime>

#include "engine/model/provider_ref.h"
#include "engine/model/snapshot_guard.h"

namespace davit {
namespace {

Urn Name(std::size_t index) {
  return Urn::Trusted(fmt::format("urn:pulumi:dev::proj::test:index:Thing::r{}", index));
}

Snapshot Stack(std::size_t size) {
  Snapshot snapshot;
  auto provider = std::make_shared<ResourceState>();
  provider->urn = Urn::Trusted("urn:pulumi:dev::proj::pulumi:providers:test::default");
  provider->type = "pulumi:providers:test";
  provider->custom = true;
  provider->id = "p";
  snapshot.resources.push_back(provider);
  for (std::size_t index = 1; index < size; ++index) {
    auto state = std::make_shared<ResourceState>();
    state->urn = Name(index);
    state->type = "test:index:Thing";
    state->custom = true;
    state->id = fmt::format("id-{}", index);
    state->provider = ProviderRef{provider->urn, provider->id}.Text();
    if (index > 1) {
      state->parent = Name(1);
      state->dependencies = {Name(index - 1)};
      state->property_dependencies["p"] = {Name(1 + index / 2 % (index - 1))};
    }
    snapshot.resources.push_back(std::move(state));
  }
  return snapshot;
}

// Nanoseconds of processor time per entry.
double Measure(std::size_t size) {
  const Snapshot base = Stack(size);
  SnapshotGuard guard(base);
  const std::clock_t begin = std::clock();
  std::int64_t id = 0;
  for (std::size_t index = 0; index < size; ++index) {
    JournalEntry entry;
    entry.kind = JournalKind::kSuccess;
    entry.operation_id = ++id;
    entry.state = base.resources[index];
    (index % 3 == 2 ? entry.delete_old : entry.remove_old) = static_cast<std::int64_t>(index);
    if (!guard.Apply(entry).empty()) {
      fmt::print("entry {} of {} was found wanting\n", index, size);
      return 0;
    }
  }
  for (std::size_t index = 2; index < size; index += 3) {
    JournalEntry entry;
    entry.kind = JournalKind::kSuccess;
    entry.operation_id = ++id;
    entry.remove_old = static_cast<std::int64_t>(index);
    guard.Apply(entry);
  }
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  return seconds * 1e9 / static_cast<double>(id);
}

}  // namespace
}  // namespace davit

int main() {
  const double small = davit::Measure(1000);
  for (const std::size_t size : {1000U, 10000U, 100000U}) {
    const double cost = davit::Measure(size);
    fmt::print("{:>7} records: {:6.0f} ns per entry, {:.2f} times that of 1000\n",
               size,
               cost,
               cost / small);
  }
}
