// The YAML fuzz target without libFuzzer: the programs of the tests as they are, then mutations of
// them. Each input has bounded time and memory; one that crashes, hangs or takes too much ends the
// test, and its seed is printed.
//
//   davit_yaml_fuzz [--seed S] [--seconds T] [--one] FOLDER...
//
// Programs are the *.yaml files below the folders, and a few that are wrong on purpose. --one runs
// seed S alone and prints its text first.

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace davit::fuzz {
namespace {

constexpr std::size_t kMaxSize = 16 * 1024;
constexpr unsigned kSecondsEach = 20;                  // with sanitizers and a busy machine
constexpr rlim_t kMemory = 2ULL * 1024 * 1024 * 1024;  // address space; sanitizers need it all

constexpr std::uint64_t kProgram = 1'000'000'000'000;  // and its number, instead of a seed
volatile std::uint64_t at_seed = 0;

extern "C" void TellSeed(int signal) {
  char line[] = "yaml_fuzz: signal 00 with seed 00000000000000000000\n";
  line[18] = static_cast<char>('0' + signal / 10 % 10);
  line[19] = static_cast<char>('0' + signal % 10);
  std::uint64_t seed = at_seed;
  for (std::size_t digit = sizeof line - 3; seed > 0; --digit, seed /= 10) {
    line[digit] = static_cast<char>('0' + seed % 10);
  }
  const ssize_t ignored = write(STDERR_FILENO, line, sizeof line - 1);
  static_cast<void>(ignored);
  std::_Exit(1);
}

std::string Bomb(const char* open, const char* close) {
  std::string text = "variables:\n  a0: &a0 x\n";
  for (int level = 1; level < 40; ++level) {
    text += fmt::format("  a{0}: &a{0} {1}", level, open);
    for (int copy = 0; copy < 9; ++copy) {
      text += std::string(close) == "]" ? fmt::format("*a{}, ", level - 1)
                                        : fmt::format("k{}: *a{}, ", copy, level - 1);
    }
    text += fmt::format("{}\n", close);
  }
  return text + "outputs: {o: \"${a39}\"}\n";
}

// What no good program holds: aliases that explode or contain themselves, depth, long chains.
std::vector<std::string> HardTexts() {
  std::vector<std::string> texts{Bomb("[", "]"), Bomb("{", "}")};
  texts.push_back("variables:\n  a: &a [*a, *a]\noutputs: {o: \"${a}\"}\n");
  texts.push_back("variables: &v\n  <<: *v\n  a: 1\n");
  texts.push_back("outputs: {o: " + std::string(5000, '[') + std::string(5000, ']') + "}\n");
  texts.push_back("outputs: {o: " + std::string(5000, '{') + "\n");
  std::string chain = "variables:\n  v0: 1\n";
  for (int index = 1; index < 3000; ++index) {
    chain += fmt::format("  v{}: ['${{v{}}}']\n", index, index - 1);
  }
  texts.push_back(chain + "outputs: {o: \"${v2999}\"}\n");
  std::string doubling = "variables:\n  v0: xxxxxxxxxxxxxxxx\n";
  for (int index = 1; index < 60; ++index) {
    doubling += fmt::format("  v{0}: ${{v{1}}}${{v{1}}}\n", index, index - 1);
  }
  texts.push_back(doubling + "outputs: {o: \"${v59}\"}\n");
  std::string calls;
  for (int depth = 0; depth < 400; ++depth) {
    calls += "{fn::toJSON: ";
  }
  texts.push_back("outputs: {o: " + calls + "x" + std::string(400, '}') + "}\n");
  return texts;
}

std::vector<std::string> ProgramsBelow(const std::vector<std::string>& folders) {
  std::vector<std::string> paths;
  for (const std::string& folder : folders) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().extension() == ".yaml" && entry.file_size() <= kMaxSize) {
        paths.push_back(entry.path().string());
      }
    }
  }
  std::ranges::sort(paths);  // seeds mean the same everywhere
  std::vector<std::string> texts;
  for (const std::string& path : paths) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    texts.push_back(text.str());
  }
  return texts;
}

constexpr std::array<const char*, 36> kPieces{"${",
                                              "}",
                                              "$${",
                                              "${a.b[0]}",
                                              "[",
                                              "]",
                                              "{",
                                              "}",
                                              ": ",
                                              "- ",
                                              "\n",
                                              "  ",
                                              "&x ",
                                              "*x",
                                              "<<: *x\n",
                                              "fn::",
                                              "fn::join:",
                                              "fn::try:",
                                              "fn::toJSON: ",
                                              "fn::invoke: ",
                                              "fn::secret: ",
                                              "fn::select: ",
                                              "fn::call: ",
                                              "options: ",
                                              "get: ",
                                              "resources:\n",
                                              "variables:\n",
                                              "outputs:\n",
                                              "components:\n",
                                              "config:\n",
                                              "pulumi:\n",
                                              "? ",
                                              "|\n",
                                              "\t",
                                              "\xff",
                                              "99999999999999999999"};

std::string Mutated(const std::vector<std::string>& programs, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&random](std::size_t end) { return end == 0 ? 0 : random() % end; };
  std::string text = programs[below(programs.size())];
  for (std::size_t change = 1 + below(8); change > 0; --change) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = below(std::min<std::size_t>(text.size() - at, 60) + 1);
    switch (below(6)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, text.substr(at, length));
        break;
      case 2:
        text.insert(at, kPieces[below(kPieces.size())]);
        break;
      case 3: {
        const std::string& other = programs[below(programs.size())];
        text.insert(at, other.substr(below(other.size() + 1), below(400)));
        break;
      }
      case 4:
        if (at < text.size()) {
          text[at] = static_cast<char>(random());
        }
        break;
      default:
        std::reverse(text.begin() + static_cast<std::ptrdiff_t>(at),
                     text.begin() + static_cast<std::ptrdiff_t>(at + length));
    }
  }
  return text.substr(0, kMaxSize);
}

void RunOne(const std::string& text, std::uint64_t seed) {
  at_seed = seed;
  alarm(kSecondsEach);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  alarm(0);
}

int Main(const std::vector<std::string>& words) {
  std::uint64_t first = 1;
  std::uint64_t seconds = 10;
  bool is_one = false;
  std::vector<std::string> folders;
  for (std::size_t index = 0; index < words.size(); ++index) {
    if (words[index] == "--one") {
      is_one = true;
    } else if (words[index].starts_with("--") && index + 1 < words.size()) {
      const std::uint64_t value = std::strtoull(words[index + 1].c_str(), nullptr, 10);
      (words[index] == "--seed" ? first : seconds) = value;
      ++index;
    } else {
      folders.push_back(words[index]);
    }
  }
  for (const int signal : {SIGSEGV, SIGABRT, SIGALRM, SIGBUS, SIGFPE}) {
    std::signal(signal, TellSeed);
  }
#if !defined(__SANITIZE_ADDRESS__)
  const rlimit memory{kMemory, kMemory};
  setrlimit(RLIMIT_AS, &memory);
#endif
  std::vector<std::string> programs = ProgramsBelow(folders);
  for (std::string& text : HardTexts()) {
    programs.push_back(std::move(text));
  }
  if (is_one) {
    const std::string text = Mutated(programs, first);
    fmt::print("{}\n", text);
    std::fflush(stdout);
    RunOne(text, first);
    return 0;
  }
  for (std::size_t index = 0; index < programs.size(); ++index) {
    RunOne(programs[index], kProgram + index);
  }
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::seconds(static_cast<long>(seconds));
  std::uint64_t seed = first;
  for (; std::chrono::steady_clock::now() < end; ++seed) {
    RunOne(Mutated(programs, seed), seed);
  }
  fmt::print("{} programs and {} mutations of them, none crashed or hung\n",
             programs.size(),
             seed - first);
  return 0;
}

}  // namespace
}  // namespace davit::fuzz

int main(int argc, char** argv) {
  return davit::fuzz::Main({argv + 1, argv + argc});
}
