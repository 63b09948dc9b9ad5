#pragma once
// Drives a real plugin process over gRPC, and plays the engine it logs to.

#include <google/protobuf/message.h>
#include <sys/types.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/value/property_value.h"
#include "host/wire/rpc_status.h"
#include "pulumirpc/provider.pb.h"

namespace davit::testing {

/// A fresh folder that goes away with the object.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string path(const std::string& name) const { return path_ + "/" + name; }
  std::string Read(const std::string& name) const;
  void Write(const std::string& name, const std::string& content) const;
  bool Has(const std::string& name) const;

 private:
  std::string path_;
};

/// The Engine service, as far as a plugin calls it.
class FakeEngine {
 public:
  struct Line {
    int severity = 0;
    std::string message;
    std::string urn;
    bool is_ephemeral = false;
  };

  FakeEngine();
  ~FakeEngine();
  const std::string& address() const;
  /// Waits for a line with the text; fails the test when none comes.
  Line WaitForLine(const std::string& text);
  std::vector<Line> lines() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct PluginOptions {
  std::string program;
  std::string directory;  ///< working directory (P24)
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;  ///< beside ours
};

struct WireReply {
  RpcStatus status;
  std::string bytes;
};

class PluginDriver {
 public:
  /// Starts the plugin and reads its first line, which need not be a port.
  explicit PluginDriver(const PluginOptions& options);
  /// Kills the plugin.
  ~PluginDriver();
  PluginDriver(const PluginDriver&) = delete;
  PluginDriver& operator=(const PluginDriver&) = delete;

  pid_t pid() const;
  /// Without its newline; what there is when the pipe ends before.
  const std::string& first_line() const;
  /// One call to ResourceProvider; `limit` cancels it.
  WireReply CallBytes(const std::string& method,
                      const std::string& request,
                      std::chrono::milliseconds limit = std::chrono::seconds(60));
  /// A call whose status must be ok.
  template <typename Response>
  Response Call(const std::string& method, const google::protobuf::Message& request) {
    Response response;
    CallInto(method, request, &response);
    return response;
  }
  /// The status of a call; the answer is dropped.
  RpcStatus Status(const std::string& method, const google::protobuf::Message& request);

  /// Asks the process to end and returns its wait status.
  int End(int signal_number);
  /// Waits for the process and returns its wait status.
  int WaitForExit();
  /// Waits until nobody holds the writing end of stdout; false when that takes too long.
  bool WaitForEndOfOutput();
  /// Everything on stderr, once the process has ended.
  std::string TakeStderr();

 private:
  struct Impl;
  void CallInto(const std::string& method,
                const google::protobuf::Message& request,
                google::protobuf::Message* response);
  std::unique_ptr<Impl> impl_;
};

/// Paths of the plugins under test.
std::string BuiltPlugin(const std::string& name);

/// A bag with unknowns and secrets kept.
void SetBag(const PropertyMap& map, google::protobuf::Struct* bag);
PropertyMap BagOf(const google::protobuf::Struct& bag);

/// A URN for a resource type.
std::string UrnOf(const std::string& type, const std::string& name);

/// One resource type of a plugin, called as the engine does. A failed call fails the test.
class ResourceDriver {
 public:
  ResourceDriver(PluginDriver& plugin, std::string type, std::string name = "it");

  pulumirpc::CheckResponse Check(const PropertyMap& news, const PropertyMap& olds = {});
  /// The inputs that Check gives; it must find no failures.
  PropertyMap Checked(const PropertyMap& news);
  /// `property: reason` of each failure.
  std::vector<std::string> Failures(const PropertyMap& news);
  pulumirpc::DiffResponse Diff(const std::string& id,
                               const PropertyMap& old_inputs,
                               const PropertyMap& old_outputs,
                               const PropertyMap& news);
  pulumirpc::CreateRequest CreateRequestFor(const PropertyMap& inputs,
                                            bool is_preview = false) const;
  pulumirpc::CreateResponse Create(const PropertyMap& inputs, bool is_preview = false);
  RpcStatus CreateStatus(const PropertyMap& inputs);
  pulumirpc::ReadResponse Read(const std::string& id,
                               const PropertyMap& inputs,
                               const PropertyMap& state);
  pulumirpc::UpdateRequest UpdateRequestFor(const std::string& id,
                                            const PropertyMap& old_inputs,
                                            const PropertyMap& old_outputs,
                                            const PropertyMap& news,
                                            bool is_preview = false) const;
  PropertyMap Update(const std::string& id,
                     const PropertyMap& old_inputs,
                     const PropertyMap& old_outputs,
                     const PropertyMap& news,
                     bool is_preview = false);
  RpcStatus Delete(const std::string& id, const PropertyMap& inputs, const PropertyMap& outputs);

 private:
  PluginDriver& plugin_;
  std::string type_;
  std::string name_;
};

/// `path: KIND` of each entry of a detailed diff, sorted.
std::vector<std::string> DetailOf(const pulumirpc::DiffResponse& response);

}  // namespace davit::testing
