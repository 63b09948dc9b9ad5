// What the engine itself costs, with providers and journal that answer at once: seconds per
// resource for stacks of growing size, as ratios to the smallest. A ratio near 1 means that no step
// costs more because the stack is large.

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/support/engine_fakes.h"

namespace davit::testing {
namespace {

std::vector<FakeResource> Program(int count, int value) {
  std::vector<FakeResource> resources;
  for (int index = 0; index < count; ++index) {
    FakeResource resource;
    resource.name = fmt::format("r{}", index);
    resource.properties["value"] = value;
    if (index % 10 != 0) {
      resource.from["source"] = fmt::format("r{}", index - 1);
    }
    resources.push_back(std::move(resource));
  }
  return resources;
}

template <typename Work>
double SecondsOf(const Work& work) {
  const auto begun = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

struct Figures {
  double create;
  double same;
  double destroy;
};

Figures Measure(int count) {
  FakeStack stack;
  stack.options.parallel = 16;
  const double create = SecondsOf([&] { stack.Up(Program(count, 1)); });
  const double same = SecondsOf([&] { stack.Up(Program(count, 1)); });
  const double destroy = SecondsOf([&] { stack.Destroy(); });
  return {create / count, same / count, destroy / count};
}

}  // namespace
}  // namespace davit::testing

int main() {
  using davit::testing::Measure;
  const auto base = Measure(250);
  fmt::print("{:>8} {:>14} {:>14} {:>14}   (ratio to 250 resources)\n",
             "count",
             "create",
             "same",
             "destroy");
  for (const int count : {250, 500, 1000, 2000}) {
    const auto figures = Measure(count);
    fmt::print("{:>8} {:>14.2f} {:>14.2f} {:>14.2f}\n",
               count,
               figures.create / base.create,
               figures.same / base.same,
               figures.destroy / base.destroy);
  }
  return 0;
}
