#pragma once
// Helpers of the state tests: files in memory that forget what was not synced, a quick secrets
// manager, short records.

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/base64.h"
#include "state/backend/file_backend.h"
#include "state/codec/checkpoint_json.h"
#include "tests/support/seeded_loop.h"

namespace davit::testing {

inline std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}
inline void WriteBytes(const std::string& path, const std::string& bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}
inline std::string GoldenPath(const std::string& name) {
  return std::string(DAVIT_SOURCE_DIR) + "/tests/state/golden/" + name;
}

/// A folder that goes with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = std::string(DAVIT_BINARY_DIR) + "/state_test_XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// What a loss of power leaves of data and of names that were not synced.
enum class LostData { kAll, kHalf, kNone };
enum class LostNames { kAll, kNone };

class MemoryFiles final : public FileLayer {
 public:
  struct File {
    std::string content;
    std::string synced;
  };
  std::map<std::string, std::shared_ptr<File>> names;
  std::map<std::string, std::shared_ptr<File>> durable_names;
  std::string everything_written;  ///< all bytes that ever went to a file
  bool is_dead = false;            ///< nothing changes any more
  int syncs = 0;
  int good_appends = 0;  ///< so many appends succeed before the failing ones
  int fail_appends = 0;  ///< so many appends fail, half written
  std::string last_failed;

  void Crash(LostData data, LostNames lost_names) {
    if (lost_names == LostNames::kAll) {
      names = durable_names;
    }
    durable_names = names;
    for (auto& [name, file] : names) {
      const std::string content = file->content;
      file->content = file->synced;
      if (data != LostData::kAll && content.size() > file->synced.size()) {
        const std::size_t unsynced = content.size() - file->synced.size();
        file->content = content.substr(
            0, file->synced.size() + (data == LostData::kHalf ? unsynced / 2 : unsynced));
      }
      file->synced = file->content;
    }
    is_dead = false;
  }
  std::string At(const std::string& path) const {
    const auto found = names.find(path);
    return found == names.end() ? std::string() : found->second->content;
  }
  void Put(const std::string& path, const std::string& bytes) {
    auto file = std::make_shared<File>(File{bytes, bytes});
    names[path] = file;
    durable_names[path] = file;
  }

  Result<std::optional<std::string>> Read(const std::string& path) override {
    const auto found = names.find(path);
    return found == names.end() ? std::optional<std::string>()
                                : std::optional<std::string>(found->second->content);
  }
  Result<std::vector<FolderItem>> List(const std::string& path) override {
    std::map<std::string, bool> found;
    for (const auto& [name, file] : names) {
      if (name.starts_with(path + "/")) {
        const std::string rest = name.substr(path.size() + 1);
        const std::size_t slash = rest.find('/');
        found[rest.substr(0, slash)] = slash != std::string::npos;
      }
    }
    std::vector<FolderItem> items;
    for (const auto& [name, is_folder] : found) {
      items.push_back(FolderItem{name, is_folder});
    }
    return items;
  }
  Result<std::unique_ptr<AppendFile>> Create(const std::string& path) override {
    if (is_dead) {
      return Dead();
    }
    // A new file each time: a truncation that is not synced does not reach what the name held
    // durably.
    names[path] = std::make_shared<File>();
    return std::unique_ptr<AppendFile>(std::make_unique<Appender>(*this, names[path]));
  }
  Result<std::unique_ptr<AppendFile>> Reopen(const std::string& path, std::size_t size) override {
    if (is_dead) {
      return Dead();
    }
    names.at(path)->content.resize(size);
    names.at(path)->synced.resize(std::min(size, names.at(path)->synced.size()));
    return std::unique_ptr<AppendFile>(std::make_unique<Appender>(*this, names.at(path)));
  }
  Result<void> Rename(const std::string& from, const std::string& to) override {
    if (is_dead || !names.contains(from)) {
      return Dead();
    }
    names[to] = names[from];
    names.erase(from);
    return {};
  }
  Result<void> Remove(const std::string& path) override {
    if (is_dead) {
      return Dead();
    }
    names.erase(path);
    return {};
  }
  Result<void> SyncFolder(const std::string& path) override {
    if (is_dead) {
      return Dead();
    }
    ++syncs;
    std::erase_if(durable_names, [&](const auto& entry) { return FolderOf(entry.first) == path; });
    for (const auto& [name, file] : names) {
      if (FolderOf(name) == path) {
        durable_names[name] = file;
      }
    }
    return {};
  }
  Result<void> MakeFolder(const std::string&) override {
    return is_dead ? Result<void>(Dead()) : Result<void>();
  }

 private:
  class Appender final : public AppendFile {
   public:
    Appender(MemoryFiles& files, std::shared_ptr<File> file)
        : files_(files), file_(std::move(file)), size_(file_->content.size()) {}
    Result<void> Append(std::string_view bytes) override {
      if (files_.is_dead) {
        return Dead();
      }
      files_.everything_written += bytes;
      if (files_.fail_appends > 0 && files_.good_appends-- <= 0) {
        --files_.fail_appends;
        Put(bytes.substr(0, bytes.size() / 2));
        return Fail(ErrorKind::kFailed, "no space left on device", "free some space");
      }
      Put(bytes);
      return {};
    }
    void Reserve(std::size_t size) override {
      if (!files_.is_dead) {
        file_->content.resize(size_ + size);
      }
    }
    Result<void> Sync() override {
      if (files_.is_dead) {
        return Dead();
      }
      ++files_.syncs;
      file_->synced = file_->content;
      return {};
    }

   private:
    void Put(std::string_view bytes) {
      file_->content.resize(std::max(file_->content.size(), size_ + bytes.size()));
      file_->content.replace(size_, bytes.size(), bytes);
      size_ += bytes.size();
    }

    MemoryFiles& files_;
    std::shared_ptr<File> file_;
    std::size_t size_;  // where the next bytes go
  };
  static Unexpected Dead() { return Fail(ErrorKind::kFailed, "the process is dead"); }
};

/// Quick, not secret: base64 behind a number that makes each ciphertext another one.
class FakeManager final : public SecretsManager {
 public:
  explicit FakeManager(std::string salt = "salt") : salt_(std::move(salt)) {}
  int encrypted = 0;
  int decrypted = 0;
  std::string type() const override { return "passphrase"; }
  std::string state_json() const override { return "{\"salt\":\"" + salt_ + "\"}"; }
  Result<std::string> Encrypt(const std::string& plaintext) override {
    return fmt::format("{}:{}:{}", salt_, ++encrypted, EncodeBase64(plaintext));
  }
  Result<std::string> Decrypt(const std::string& ciphertext) override {
    ++decrypted;
    if (!ciphertext.starts_with(salt_ + ":")) {
      return Fail(ErrorKind::kRefused, "another manager's text");
    }
    return DecodeBase64(ciphertext.substr(ciphertext.rfind(':') + 1)).value_or("");
  }

 private:
  std::string salt_;
};

inline SecretsOpener OpenerOf(std::shared_ptr<SecretsManager> manager) {
  return
      [manager](const std::string&, const std::string&) -> Result<std::shared_ptr<SecretsManager>> {
        return manager;
      };
}
/// Opens with the real passphrase manager; what was opened once in this process is kept, as each
/// key takes its time to derive.
inline SecretsOpener OpenerFor(const std::string& passphrase) {
  return [passphrase](const std::string& type,
                      const std::string& state) -> Result<std::shared_ptr<SecretsManager>> {
    if (type != "passphrase") {
      return Fail(ErrorKind::kUnimplemented, "only passphrases");
    }
    DAVIT_TRY(const std::string salt, SaltOf(state));
    static std::map<std::pair<std::string, std::string>, std::shared_ptr<SecretsManager>> opened;
    std::shared_ptr<SecretsManager>& manager = opened[{salt, passphrase}];
    if (!manager) {
      DAVIT_TRY(manager, OpenPassphraseManager(salt, passphrase, SystemRandom));
    }
    return manager;
  };
}
inline SecretsOpener NoPassphrase() {
  return [](const std::string&, const std::string&) -> Result<std::shared_ptr<SecretsManager>> {
    return Fail(ErrorKind::kRefused,
                "no passphrase",
                "set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE");
  };
}

inline Urn ThingUrn(const std::string& name) {
  return Urn::Trusted("urn:pulumi:dev::proj::test:index:Thing::" + name);
}
inline Urn ProviderUrn() {
  return Urn::Trusted("urn:pulumi:dev::proj::pulumi:providers:test::default");
}

inline StatePtr ProviderRecord() {
  auto state = std::make_shared<ResourceState>();
  state->urn = ProviderUrn();
  state->type = "pulumi:providers:test";
  state->custom = true;
  state->id = "p-1";
  return state;
}

inline std::shared_ptr<ResourceState> Thing(const std::string& name,
                                            PropertyMap inputs = {},
                                            std::vector<std::string> after = {}) {
  auto state = std::make_shared<ResourceState>();
  state->urn = ThingUrn(name);
  state->type = "test:index:Thing";
  state->custom = true;
  state->id = name + "-1";
  state->outputs = inputs;
  state->inputs = std::move(inputs);
  state->provider = ProviderUrn().text() + "::p-1";
  for (const std::string& dependency : after) {
    state->dependencies.push_back(ThingUrn(dependency));
  }
  return state;
}

/// "a", "a!" (delete), "a?" (pendingReplacement); pending operations as "+creating a".
inline std::vector<std::string> Summary(const Snapshot& snapshot) {
  std::vector<std::string> lines;
  for (const StatePtr& state : snapshot.resources) {
    lines.push_back(std::string(state->urn.name()) + "/" + state->id +
                    (state->pending_delete ? "!" : "") + (state->pending_replacement ? "?" : ""));
  }
  for (const PendingOperation& operation : snapshot.pending_operations) {
    lines.push_back("+" + std::string(OperationTypeName(operation.type)) + " " +
                    std::string(operation.resource->urn.name()));
  }
  return lines;
}

/// Runs a task to its end on a loop.
template <typename T>
T RunTask(SeededLoop& loop, Task<T> task) {
  std::optional<T> result;
  std::exception_ptr failure;
  Start(loop, std::move(task), [&](std::exception_ptr thrown, std::optional<T> value) {
    failure = thrown;
    result = std::move(value);
  });
  loop.RunUntilIdle();
  if (failure) {
    std::rethrow_exception(failure);
  }
  DAVIT_CHECK(result, "the task did not end");
  return *std::move(result);
}

/// Runs blocking work at once.
inline std::function<void(std::function<void()>)> AtOnce() {
  return [](std::function<void()> work) { work(); };
}

}  // namespace davit::testing
