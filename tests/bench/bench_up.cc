// bench_up DAVIT PLUGIN-FOLDER [N ...]: N creates, no-op preview, no-op up, refresh and destroy of
// the real binary on a provider that does nothing, each between two runs of a bare client that
// makes the same calls to the same provider, with the same number in flight. Prints ratios; a
// timing is never a failure.

#include <fcntl.h>
#include <fmt/format.h>
#include <grpcpp/grpcpp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "pulumirpc/provider.grpc.pb.h"

namespace {

namespace fs = std::filesystem;
namespace rpc = pulumirpc;

constexpr int kInFlight = 16;

[[noreturn]] void Give(const std::string& message) {
  fmt::print(stderr, "bench_up: {}\n", message);
  std::exit(1);
}

double SecondsOf(const std::function<void()>& work) {
  const auto begun = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

/// The noop plugin, run for the bare client.
class Plugin {
 public:
  explicit Plugin(const std::string& path) {
    int pipe_ends[2];
    if (::pipe(pipe_ends) != 0) {
      Give("no pipe");
    }
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(pipe_ends[1], STDOUT_FILENO);
      ::execl(path.c_str(), path.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(pipe_ends[1]);
    std::FILE* out = ::fdopen(pipe_ends[0], "r");
    int port = 0;
    if (out == nullptr || std::fscanf(out, "%d", &port) != 1) {
      Give("the plugin '" + path + "' printed no port");
    }
    std::fclose(out);
    stub_ = rpc::ResourceProvider::NewStub(grpc::CreateChannel("127.0.0.1:" + std::to_string(port),
                                                               grpc::InsecureChannelCredentials()));
  }
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;
  ~Plugin() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  rpc::ResourceProvider::Stub& stub() { return *stub_; }

 private:
  pid_t pid_ = -1;
  std::unique_ptr<rpc::ResourceProvider::Stub> stub_;
};

std::string UrnOf(int index) {
  return fmt::format("urn:pulumi:dev::bench::benchnoop:index:Thing::r{}", index);
}

google::protobuf::Struct Properties(int index) {
  google::protobuf::Struct properties;
  (*properties.mutable_fields())["value"].set_number_value(index);
  (*properties.mutable_fields())["text"].set_string_value(
      fmt::format("the text of resource {}", index));
  return properties;
}

void Must(const grpc::Status& status) {
  if (!status.ok()) {
    Give("a bare call failed: " + status.error_message());
  }
}

/// Calls `call` for 0 .. count-1 from kInFlight threads.
double Bare(int count, const std::function<void(int)>& call) {
  return SecondsOf([&] {
    std::atomic<int> next{0};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kInFlight; ++thread) {
      threads.emplace_back([&] {
        for (int index = next++; index < count; index = next++) {
          call(index);
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  });
}

/// The calls of one resource in each phase, by the bare client.
struct BareCalls {
  explicit BareCalls(rpc::ResourceProvider::Stub& stub_in) : stub(stub_in) {}
  rpc::ResourceProvider::Stub& stub;

  void Check(int index) {
    grpc::ClientContext context;
    rpc::CheckRequest request;
    rpc::CheckResponse response;
    request.set_urn(UrnOf(index));
    *request.mutable_news() = Properties(index);
    Must(stub.Check(&context, request, &response));
  }
  void Diff(int index) {
    grpc::ClientContext context;
    rpc::DiffRequest request;
    rpc::DiffResponse response;
    request.set_urn(UrnOf(index));
    *request.mutable_olds() = Properties(index);
    *request.mutable_news() = Properties(index);
    *request.mutable_old_inputs() = Properties(index);
    Must(stub.Diff(&context, request, &response));
  }
  void Create(int index) {
    grpc::ClientContext context;
    rpc::CreateRequest request;
    rpc::CreateResponse response;
    request.set_urn(UrnOf(index));
    *request.mutable_properties() = Properties(index);
    Must(stub.Create(&context, request, &response));
  }
  void Read(int index) {
    grpc::ClientContext context;
    rpc::ReadRequest request;
    rpc::ReadResponse response;
    request.set_urn(UrnOf(index));
    request.set_id("id");
    *request.mutable_inputs() = Properties(index);
    *request.mutable_properties() = Properties(index);
    Must(stub.Read(&context, request, &response));
  }
  void Delete(int index) {
    grpc::ClientContext context;
    rpc::DeleteRequest request;
    google::protobuf::Empty response;
    request.set_urn(UrnOf(index));
    request.set_id("id");
    *request.mutable_properties() = Properties(index);
    *request.mutable_old_inputs() = Properties(index);
    Must(stub.Delete(&context, request, &response));
  }
};

/// Runs davit in the folder; gives seconds, and raises `peak` to its peak memory in MB.
double Davit(const std::string& davit,
             const fs::path& folder,
             std::vector<std::string> words,
             long* peak) {
  return SecondsOf([&] {
    const pid_t pid = ::fork();
    if (pid == 0) {
      fs::current_path(folder);
      const int null = ::open("/dev/null", O_RDWR);
      ::dup2(null, STDIN_FILENO);
      ::dup2(null, STDOUT_FILENO);
      std::vector<char*> arguments;
      words.insert(words.begin(), davit);
      for (std::string& word : words) {
        arguments.push_back(word.data());
      }
      arguments.push_back(nullptr);
      ::execv(davit.c_str(), arguments.data());
      ::_exit(127);
    }
    int status = 0;
    rusage usage{};
    if (::wait4(pid, &status, 0, &usage) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      Give("davit " + words[0] + " failed");
    }
    *peak = std::max(*peak, usage.ru_maxrss / 1024);
  });
}

void WriteProgram(const fs::path& folder, const std::string& plugins, int count) {
  std::ofstream out(folder / "Pulumi.yaml");
  out << "name: bench\nruntime: yaml\nplugins:\n  providers:\n    - {name: benchnoop, path: "
      << plugins << "}\nresources:\n";
  for (int index = 0; index < count; ++index) {
    out << fmt::format(
        "  r{0}:\n    type: benchnoop:index:Thing\n    properties: {{value: {0}, text: the text of "
        "resource {0}}}\n",
        index);
  }
}

struct Phase {
  double seconds = 0;  ///< of davit
  double bare = 0;     ///< of the same calls: mean of one run before and one after
};

/// Runs the phases of `count` resources, in the order of the table; raises `peak` to the peak
/// memory of davit in MB.
std::vector<Phase> Measure(const std::string& davit,
                           const std::string& plugins,
                           const fs::path& folder,
                           int count,
                           long* peak) {
  fs::remove_all(folder);
  fs::create_directories(folder / "home");
  ::setenv("PULUMI_HOME", (folder / "home").c_str(), 1);
  WriteProgram(folder, plugins, count);
  Davit(davit, folder, {"stack", "init", "dev"}, peak);
  Plugin plugin(plugins + "/pulumi-resource-benchnoop");
  BareCalls calls(plugin.stub());
  using Call = std::function<void(int)>;
  const Call check_create = [&](int index) { calls.Check(index), calls.Create(index); };
  const Call check_diff = [&](int index) { calls.Check(index), calls.Diff(index); };
  const Call read_diff = [&](int index) { calls.Read(index), calls.Diff(index); };
  const Call remove = [&](int index) { calls.Delete(index); };
  const std::vector<std::pair<std::string, Call>> phases = {{"up", check_create},
                                                            {"preview", check_diff},
                                                            {"up", check_diff},
                                                            {"refresh", read_diff},
                                                            {"destroy", remove}};
  std::vector<Phase> measured;
  for (const auto& [verb, call] : phases) {
    std::vector<std::string> words = {
        verb, "-s", "dev", "--non-interactive", "--parallel", std::to_string(kInFlight)};
    if (verb != "preview") {
      words.insert(words.end(), {"--yes", "--skip-preview"});
    }
    Phase phase;
    const double before = Bare(count, call);
    phase.seconds = Davit(davit, folder, std::move(words), peak);
    phase.bare = (before + Bare(count, call)) / 2;
    measured.push_back(phase);
  }
  return measured;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    Give("usage: bench_up DAVIT PLUGIN-FOLDER [N ...]");
  }
  const std::string davit = fs::absolute(argv[1]);
  const std::string plugins = fs::absolute(argv[2]);
  std::vector<int> counts;
  for (int index = 3; index < argc; ++index) {
    counts.push_back(std::atoi(argv[index]));
  }
  if (counts.empty()) {
    counts = {1, 100, 1000, 10000};
  }
  const fs::path folder = fs::temp_directory_path() / fmt::format("davit-bench-{}", ::getpid());
  fmt::print("seconds (times the bare calls)\n{:>7} {:>15} {:>15} {:>15} {:>15} {:>15} {:>8}\n",
             "N",
             "up",
             "no-op preview",
             "no-op up",
             "refresh",
             "destroy",
             "peak MB");
  for (const int count : counts) {
    long peak = 0;
    fmt::print("{:>7}", count);
    for (const Phase& phase : Measure(davit, plugins, folder, count, &peak)) {
      fmt::print(" {:>15}",
                 fmt::format("{:.3f} ({:.2f})", phase.seconds, phase.seconds / phase.bare));
    }
    fmt::print(" {:>8}\n", peak);
    std::fflush(stdout);
  }
  fs::remove_all(folder);
}
