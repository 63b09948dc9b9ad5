// The whole engine against random histories of one stack (S198): programs, edits, failures,
// interrupts and crashes. No process, no file, no real clock; the same seed does the same
// everywhere.
//
//   davit_engine_fuzz [--runs N] [--seed S] [--seconds T] [--with FEATURE]... [--keep-going]
//
// Runs N histories with the seeds S, S+1, ... until one is found wanting or T seconds are over. A
// finding is made smaller, printed with its seed, and ends the test with 1; with --keep-going one
// of each kind is printed. Features (history.h): targets, excludes, replaces, aliases, continues,
// programs, fresh; without --with each seed has its own choice of them.

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

#include "tests/fuzz/run_history.h"

namespace davit::fuzz {
namespace {

struct Options {
  long runs = 10000;
  std::uint64_t seed = 1;
  long seconds = 55;
  std::optional<Features> features;
  bool keep_going = false;
};

// The features by name; false for another name.
bool Enable(const std::string& name, std::optional<Features>* features) {
  const std::pair<const char*, bool Features::*> known[] = {
      {"targets", &Features::targets},
      {"excludes", &Features::excludes},
      {"replaces", &Features::replaces},
      {"aliases", &Features::aliases},
      {"continues", &Features::continues},
      {"programs", &Features::programs},
      {"fresh", &Features::fresh},
  };
  for (const auto& [feature, member] : known) {
    if (name == feature) {
      if (!*features) {
        features->emplace();
      }
      (**features).*member = true;
      return true;
    }
  }
  return false;
}

// All at once would leave hardly a history in which only one of them matters.
Features FeaturesOf(std::uint64_t seed) {
  Features features;
  features.targets = features.replaces = (seed & 1U) != 0;
  features.excludes = features.fresh = (seed & 2U) != 0;
  features.programs = (seed & 4U) != 0;
  features.aliases = features.continues = (seed & 8U) != 0;
  return features;
}

bool Parse(int argc, char** argv, Options* options) {
  for (int at = 1; at < argc; ++at) {
    const std::string name = argv[at];
    if (name == "--keep-going") {
      options->keep_going = true;
      continue;
    }
    if (name == "--with" && at + 1 < argc && Enable(argv[at + 1], &options->features)) {
      ++at;
      continue;
    }
    char* end = nullptr;
    const unsigned long long value = at + 1 < argc ? std::strtoull(argv[at + 1], &end, 10) : 0;
    if (end == nullptr || end == argv[at + 1] || *end != '\0') {
      fmt::print(stderr, "'{}' needs a number\n", name);
      return false;
    }
    if (name == "--runs") {
      options->runs = static_cast<long>(value);
    } else if (name == "--seed") {
      options->seed = value;
    } else if (name == "--seconds") {
      options->seconds = static_cast<long>(value);
    } else {
      fmt::print(stderr,
                 "no option '{}'; there are --runs, --seed, --seconds, --with and --keep-going\n",
                 name);
      return false;
    }
    ++at;
  }
  return true;
}

void Report(std::uint64_t seed, const History& history, const Finding& finding) {
  Tally unused;
  const auto fails = [&](const History& smaller) {
    const std::optional<Finding> again = RunHistory(smaller, &unused);
    return again && again->kind == finding.kind;
  };
  const History small = Shrink(history, fails, 4000);
  const std::optional<Finding> last = RunHistory(small, &unused);
  fmt::print("seed {}: {}\n{}\nthe smallest history that shows it:\n{}\n",
             seed,
             finding.kind,
             last ? last->text : finding.text,
             Text(small));
  std::fflush(stdout);
}

int Main(int argc, char** argv) {
  Options options;
  if (!Parse(argc, argv, &options)) {
    return 2;
  }
  fmt::print("seeds from {}\n", options.seed);
  const auto begin = std::chrono::steady_clock::now();
  const auto passed = [&] { return std::chrono::steady_clock::now() - begin; };
  Tally tally;
  std::set<std::string> kinds;
  long done = 0;
  long found = 0;
  for (; done < options.runs && passed() < std::chrono::seconds(options.seconds); ++done) {
    const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(done);
    const History history =
        MakeHistory(seed, options.features ? *options.features : FeaturesOf(seed));
    const std::optional<Finding> finding = RunHistory(history, &tally);
    if (!finding) {
      continue;
    }
    ++found;
    if (kinds.insert(finding->kind).second) {
      Report(seed, history, *finding);
    }
    if (!options.keep_going) {
      return 1;
    }
  }
  fmt::print("{} histories in {:.1f} s, {} found wanting\n",
             done,
             std::chrono::duration<double>(passed()).count(),
             found);
  for (const auto& [what, count] : tally) {
    fmt::print("  {:>9}  {}\n", count, what);
  }
  return found > 0 ? 1 : 0;
}

}  // namespace
}  // namespace davit::fuzz

int main(int argc, char** argv) {
  return davit::fuzz::Main(argc, argv);
}
