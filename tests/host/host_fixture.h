#pragma once
// Runs coroutines on a real AsioLoop, and makes the folders and shell scripts that tests use as
// plugins.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "engine/base/task.h"
#include "host/loop/asio_loop.h"
#include "host/loop/work_pool.h"

namespace davit::testing {

/// Runs `task` to its end on `loop`, in the calling thread.
template <typename T>
T Await(AsioLoop& loop, Task<T> task) {
  std::optional<T> result;
  std::exception_ptr failure;
  Start(loop, std::move(task), [&](std::exception_ptr thrown, std::optional<T> value) {
    failure = thrown;
    result = std::move(value);
    loop.Stop();
  });
  loop.Run();
  if (failure) {
    std::rethrow_exception(failure);
  }
  return *std::move(result);
}

inline void Await(AsioLoop& loop, Task<void> task) {
  std::exception_ptr failure;
  Start(loop, std::move(task), [&](std::exception_ptr thrown) {
    failure = thrown;
    loop.Stop();
  });
  loop.Run();
  if (failure) {
    std::rethrow_exception(failure);
  }
}

/// Runs blocking client code on another thread while this one serves the loop.
template <typename Body>
void RunBeside(AsioLoop& loop, Body body) {
  std::thread thread([&] {
    body();
    loop.Post([&] { loop.Stop(); });
  });
  loop.Run();
  thread.join();
}

/// A folder that is deleted with everything in it.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "davit-host-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = std::filesystem::canonical(pattern);
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string path(const std::string& name = {}) const {
    return name.empty() ? path_.string() : (path_ / name).string();
  }
  /// Writes an executable shell script and gives its path.
  std::string Script(const std::string& name, const std::string& body) const {
    const std::string file = path(name);
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    Write(name, "#!/bin/sh\n" + body);
    REQUIRE(::chmod(file.c_str(), 0755) == 0);
    return file;
  }
  void Write(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name)) << content;
  }
  std::string Read(const std::string& name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

 private:
  std::filesystem::path path_;
};

/// Whether `text` holds `part`; prints both when not.
inline void RequireContains(const std::string& text, const std::string& part) {
  INFO("text: " << text);
  INFO("part: " << part);
  REQUIRE(text.find(part) != std::string::npos);
}

}  // namespace davit::testing
