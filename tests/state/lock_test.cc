// Locks: one per stack, Pulumi kept out and respected (S127-S132, W8).
#include <catch2/catch.hpp>

#include <unistd.h>

#include <array>

#include "state/codec/json_reader.h"
#include "tests/state/state_fakes.h"

namespace davit::testing {
namespace {

const StackRef kStack{"proj", "dev"};

struct Store {
  TemporaryFolder folder;
  std::string locks = folder.path() + "/.pulumi/locks/organization/proj/dev";
  std::unique_ptr<Backend> Open() {
    return *OpenBackend("file://" + folder.path(), false, "davit/test");
  }
  std::vector<std::string> Objects() const {
    std::vector<std::string> names;
    if (std::filesystem::exists(locks)) {
      for (const auto& item : std::filesystem::directory_iterator(locks)) {
        names.push_back(item.path().filename().string());
      }
    }
    return names;
  }
};

std::string HostName() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return host.data();
}

const std::string kObject = "/512998d9-f0d7-4397-81b7-adf1b73d3c4d.json";

}  // namespace

TEST_CASE("a stack has one lock; the refusal names the holder; other stacks are free") {
  Store store;
  const std::unique_ptr<Backend> one = store.Open();
  const std::unique_ptr<Backend> two = store.Open();
  Result<std::unique_ptr<StackLock>> held = one->Lock(kStack);
  REQUIRE(held);
  const Result<std::unique_ptr<StackLock>> refused = two->Lock(kStack);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::kRefused);
  CHECK_THAT(refused.error().message,
             Catch::Contains(fmt::format("process {}", ::getpid())) &&
                 Catch::Contains("since 20") && Catch::Contains("@" + HostName()));
  CHECK(two->Lock({"proj", "other"}));
  held->reset();
  CHECK(two->Lock(kStack));
}

TEST_CASE("[S127] while davit holds the lock an object in Pulumi's form keeps Pulumi out") {
  Store store;
  const std::unique_ptr<Backend> backend = store.Open();
  Result<std::unique_ptr<StackLock>> held = backend->Lock(kStack);
  REQUIRE(held);
  const std::vector<std::string> objects = store.Objects();
  REQUIRE(objects.size() == 1);
  CHECK(objects[0].size() == 36 + 5);
  const std::string json = ReadBytes(store.locks + "/" + objects[0]);
  CHECK_THAT(json, Catch::StartsWith(fmt::format("{{\"pid\":{},\"username\":\"", ::getpid())));
  CHECK_THAT(json, Catch::Contains("\"hostname\":\"" + HostName() + "\",\"timestamp\":\"20"));
  held->reset();
  CHECK(store.Objects().empty());
}

TEST_CASE("[S128] a lock of Pulumi is respected, and named") {
  Store store;
  WriteBytes(
      store.locks + kObject,
      R"({"pid":4711,"username":"ann","hostname":"far","timestamp":"2026-11-30T02:58:39Z"})");
  const std::unique_ptr<Backend> backend = store.Open();
  const Result<std::unique_ptr<StackLock>> refused = backend->Lock(kStack);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message,
             Catch::Contains("ann@far (process 4711) since 2026-11-30T02:58:39Z") &&
                 Catch::Contains(store.locks + kObject));
  CHECK(store.Objects().size() == 1);
  std::filesystem::remove(store.locks + kObject);
  CHECK(backend->Lock(kStack));  // the refusal left nothing behind
}

TEST_CASE("what a dead davit of this host left is cleaned up; that of another host is not") {
  Store store;
  const std::unique_ptr<Backend> backend = store.Open();
  const auto object = [](const std::string& host) {
    return R"({"pid":1,"username":"u","hostname":")" + host +
           R"(","timestamp":"2026-11-30T02:58:39Z","davit":true})";
  };
  WriteBytes(store.locks + kObject, object(HostName()));
  {
    const Result<std::unique_ptr<StackLock>> taken = backend->Lock(kStack);
    CHECK(taken);
    CHECK(store.Objects().size() == 1);
  }
  CHECK(store.Objects().empty());
  WriteBytes(store.locks + kObject, object("elsewhere"));
  CHECK_FALSE(backend->Lock(kStack));
}

TEST_CASE("[C24] locks of processes that are gone are taken away, that of a living davit is not") {
  Store store;
  const std::unique_ptr<Backend> backend = store.Open();
  CHECK(backend->BreakLocks(kStack).value() == 0);
  WriteBytes(store.locks + kObject, "");  // whatever it says
  CHECK_FALSE(backend->Lock(kStack));
  CHECK(backend->BreakLocks(kStack).value() == 1);
  const Result<std::unique_ptr<StackLock>> taken = backend->Lock(kStack);
  REQUIRE(taken);
  const Result<int> refused = store.Open()->BreakLocks(kStack);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::kRefused);
  CHECK_THAT(refused.error().Text(), Catch::Contains("interrupt that process"));
  CHECK(store.Objects().size() == 1);
}

TEST_CASE("[S129] [W8] an unreadable lock refuses; leftovers of other names do not count") {
  Store store;
  const std::unique_ptr<Backend> backend = store.Open();
  WriteBytes(store.locks + kObject + ".17a.tmp", "");
  WriteBytes(store.locks + kObject + ".attrs", "{}");
  CHECK(backend->Lock(kStack));
  WriteBytes(store.locks + kObject, "");
  const Result<std::unique_ptr<StackLock>> refused = backend->Lock(kStack);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message, Catch::Contains(store.locks + kObject));
}

}  // namespace davit::testing
