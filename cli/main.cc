// davit: words, environment and place of the binary in; exit status out. See cli/run.cc for the
// commands.

#include <unistd.h>

#include <filesystem>

#include "cli/commands/commands.h"

int main(int argc, char** argv) {
  davit::Environment environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) {
      environment.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  std::error_code failure;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failure);
  const std::vector<std::string> words(argv + 1, argv + argc);
  return davit::RunCommandLine(words, environment, program.string());
}
