#pragma once
// A project in a folder of its own, and the davit binary on it.

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <string>

#include "cli/workspace/stack_file.h"

namespace davit {

namespace fs = std::filesystem;

struct Ran {
  int status = 0;
  std::string out;
  std::string err;
};

class Project {
 public:
  explicit Project(const std::string& name, const std::string& text = "outputs: {o: 1}\n")
      : path_(fs::temp_directory_path() / ("davit-commands-" + name + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_ / "home");
    Write("Pulumi.yaml", "name: golden\nruntime: yaml\n" + text);
  }
  ~Project() { fs::remove_all(path_); }

  void Write(const std::string& name, const std::string& text) const {
    REQUIRE(ReplaceFile((path_ / name).string(), text));
  }
  std::string Path(const std::string& name) const { return (path_ / name).string(); }
  std::string Read(const std::string& name) const {
    return ReadFileIfThere((path_ / name).string())->value_or("(no file)");
  }
  /// `words` as a shell reads them; no passphrase when it is empty. `environment` has further
  /// assignments.
  Ran operator()(const std::string& words,
                 const std::string& passphrase = "golden",
                 const std::string& environment = "") const {
    const std::string errors = (path_ / "stderr").string();
    std::string line = "cd '" + path_.string() + "' && exec " +
                       Line(words, passphrase, environment) + " 2>'" + errors + "'";
    line += words.find('<') == std::string::npos ? " </dev/null" : "";
    Ran ran;
    FILE* pipe = popen(line.c_str(), "r");
    REQUIRE(pipe != nullptr);
    char buffer[4096];
    for (std::size_t count = 0; (count = fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
      ran.out.append(buffer, count);
    }
    ran.status = WEXITSTATUS(pclose(pipe));
    ran.err = ReadFileIfThere(errors)->value_or("");
    return ran;
  }
  /// The command with its environment, as a shell reads it.
  std::string Line(const std::string& words,
                   const std::string& passphrase = "golden",
                   const std::string& environment = "") const {
    std::string line = "env -u PULUMI_CONFIG_PASSPHRASE_FILE";
    line += " -u PULUMI_CONFIG_PASSPHRASE -u PULUMI_BACKEND_URL -u DAVIT_BACKEND_URL";
    line += " -u PULUMI_STACK PULUMI_HOME='" + (path_ / "home").string() + "' ";
    line += passphrase.empty() ? "" : "PULUMI_CONFIG_PASSPHRASE='" + passphrase + "' ";
    line += environment + " ";
    return line + "'" DAVIT_BINARY_DIR "/davit' " + words;
  }
  void Ok(const std::string& words) const {
    const Ran ran = (*this)(words);
    INFO(words << ": " << ran.err);
    REQUIRE(ran.status == 0);
  }

 private:
  fs::path path_;
};

inline bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace davit
