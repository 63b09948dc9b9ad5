#include "tests/wire/plugin_driver.h"

#include <fcntl.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>

#include "host/wire/grpc_bytes.h"
#include "host/wire/message_io.h"
#include "host/wire/value_codec.h"
#include "pulumirpc/engine.pb.h"

namespace davit::testing {

namespace fs = std::filesystem;

// --- TestFolder

TestFolder::TestFolder() {
  std::string name = (fs::temp_directory_path() / "davit-wire-XXXXXX").string();
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  path_ = name;
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string TestFolder::Read(const std::string& name) const {
  std::ifstream file(path(name), std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void TestFolder::Write(const std::string& name, const std::string& content) const {
  std::ofstream file(path(name), std::ios::binary | std::ios::trunc);
  file << content;
}

bool TestFolder::Has(const std::string& name) const {
  return fs::symlink_status(path(name)).type() != fs::file_type::not_found;
}

// --- FakeEngine

struct FakeEngine::Impl {
  class Reactor final : public grpc::ServerGenericBidiReactor {
   public:
    Reactor(Impl& impl, std::string method) : impl_(impl), method_(std::move(method)) {
      StartRead(&request_);
    }
    void OnReadDone(bool is_ok) override {
      pulumirpc::LogRequest line;
      if (is_ok && method_ == "/pulumirpc.Engine/Log" &&
          ParseMessage(TakeBytes(&request_), &line)) {
        const std::lock_guard<std::mutex> lock(impl_.mutex);
        impl_.lines.push_back({.severity = line.severity(),
                               .message = line.message(),
                               .urn = line.urn(),
                               .is_ephemeral = line.ephemeral()});
        impl_.changed.notify_all();
      }
      reply_ = ToByteBuffer({});
      StartWriteAndFinish(&reply_, grpc::WriteOptions(), grpc::Status::OK);
    }
    void OnDone() override { delete this; }

   private:
    Impl& impl_;
    const std::string method_;
    grpc::ByteBuffer request_;
    grpc::ByteBuffer reply_;
  };
  class Service final : public grpc::CallbackGenericService {
   public:
    explicit Service(Impl& impl) : impl_(impl) {}
    grpc::ServerGenericBidiReactor* CreateReactor(
        grpc::GenericCallbackServerContext* context) override {
      return new Reactor(impl_, context->method());
    }

   private:
    Impl& impl_;
  };

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Line> lines;
  Service service{*this};
  std::unique_ptr<grpc::Server> server;
  std::string address;
};

FakeEngine::FakeEngine() : impl_(std::make_unique<Impl>()) {
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterCallbackGenericService(&impl_->service);
  impl_->server = builder.BuildAndStart();
  REQUIRE(port != 0);
  impl_->address = "127.0.0.1:" + std::to_string(port);
}

FakeEngine::~FakeEngine() {
  impl_->server->Shutdown();
}

const std::string& FakeEngine::address() const {
  return impl_->address;
}

FakeEngine::Line FakeEngine::WaitForLine(const std::string& text) {
  std::unique_lock<std::mutex> lock(impl_->mutex);
  Line found;
  const bool has_come = impl_->changed.wait_for(lock, std::chrono::seconds(60), [&] {
    const auto at = std::find_if(impl_->lines.begin(), impl_->lines.end(), [&](const Line& line) {
      return line.message.find(text) != std::string::npos;
    });
    if (at != impl_->lines.end()) {
      found = *at;
    }
    return at != impl_->lines.end();
  });
  INFO("waiting for '" << text << "'");
  REQUIRE(has_come);
  return found;
}

std::vector<FakeEngine::Line> FakeEngine::lines() const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->lines;
}

// --- PluginDriver

struct PluginDriver::Impl {
  pid_t pid = 0;
  std::optional<int> wait_status;
  int output = -1;
  std::FILE* errors = nullptr;
  std::string first_line;
  std::unique_ptr<grpc::GenericStub> stub;
};

PluginDriver::PluginDriver(const PluginOptions& options) : impl_(std::make_unique<Impl>()) {
  std::array<int, 2> pipe{};
  REQUIRE(::pipe2(pipe.data(), O_CLOEXEC) == 0);
  impl_->output = pipe[0];
  impl_->errors = std::tmpfile();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, pipe[1], 1);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(impl_->errors), 2);
  if (!options.directory.empty()) {
    ::posix_spawn_file_actions_addchdir_np(&actions, options.directory.c_str());
  }
  std::vector<std::string> words{options.program};
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    variables.emplace_back(*entry);
  }
  for (const auto& [name, value] : options.environment) {
    variables.push_back(name + "=" + value);
  }
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (std::string& text : texts) {
      all.push_back(text.data());
    }
    all.push_back(nullptr);
    return all;
  };
  const int error = ::posix_spawn(&impl_->pid,
                                  options.program.c_str(),
                                  &actions,
                                  nullptr,
                                  pointers(words).data(),
                                  pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[1]);
  INFO("starting " << options.program);
  REQUIRE(error == 0);
  char byte = 0;
  while (::read(impl_->output, &byte, 1) == 1 && byte != '\n') {
    impl_->first_line += byte;
  }
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_MAX_METADATA_SIZE, 16 * 1024 * 1024);
  impl_->stub = std::make_unique<grpc::GenericStub>(grpc::CreateCustomChannel(
      "127.0.0.1:" + impl_->first_line, grpc::InsecureChannelCredentials(), arguments));
}

PluginDriver::~PluginDriver() {
  if (!impl_->wait_status) {
    ::kill(impl_->pid, SIGKILL);
    ::waitpid(impl_->pid, nullptr, 0);
  }
  ::close(impl_->output);
  std::fclose(impl_->errors);
}

pid_t PluginDriver::pid() const {
  return impl_->pid;
}

const std::string& PluginDriver::first_line() const {
  return impl_->first_line;
}

WireReply PluginDriver::CallBytes(const std::string& method,
                                  const std::string& request,
                                  std::chrono::milliseconds limit) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + limit);
  grpc::CompletionQueue queue;
  const auto call = impl_->stub->PrepareUnaryCall(
      &context, "/pulumirpc.ResourceProvider/" + method, ToByteBuffer(request), &queue);
  grpc::ByteBuffer reply;
  grpc::Status status;
  call->StartCall();
  call->Finish(&reply, &status, nullptr);
  void* tag = nullptr;
  bool is_ok = false;
  queue.Next(&tag, &is_ok);
  return {.status = ToRpcStatus(status), .bytes = TakeBytes(&reply)};
}

void PluginDriver::CallInto(const std::string& method,
                            const google::protobuf::Message& request,
                            google::protobuf::Message* response) {
  const WireReply reply = CallBytes(method, SerializeMessage(request));
  INFO(method << ": " << reply.status.message);
  REQUIRE(reply.status.ok());
  REQUIRE(ParseMessage(reply.bytes, response));
}

RpcStatus PluginDriver::Status(const std::string& method,
                               const google::protobuf::Message& request) {
  return CallBytes(method, SerializeMessage(request)).status;
}

int PluginDriver::End(int signal_number) {
  ::kill(impl_->pid, signal_number);
  return WaitForExit();
}

int PluginDriver::WaitForExit() {
  if (!impl_->wait_status) {
    int status = 0;
    REQUIRE(::waitpid(impl_->pid, &status, 0) == impl_->pid);
    impl_->wait_status = status;
  }
  return *impl_->wait_status;
}

bool PluginDriver::WaitForEndOfOutput() {
  std::array<char, 4096> buffer;
  pollfd polled{impl_->output, POLLIN, 0};
  while (::poll(&polled, 1, 60'000) > 0) {
    if (::read(impl_->output, buffer.data(), buffer.size()) <= 0) {
      return true;
    }
  }
  return false;
}

std::string PluginDriver::TakeStderr() {
  WaitForExit();
  std::string text;
  std::array<char, 4096> buffer;
  std::rewind(impl_->errors);
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), impl_->errors)) {
    text.append(buffer.data(), count);
  }
  return text;
}

std::string BuiltPlugin(const std::string& name) {
  const std::string folder = name == "davittest" ? "/tests/plugins"
                             : name == "example" ? "/examples"
                                                 : "";
  return std::string(DAVIT_BINARY_DIR) + folder + "/pulumi-resource-" + name;
}

// --- bags and resources

void SetBag(const PropertyMap& map, google::protobuf::Struct* bag) {
  CodecOptions options;
  options.keep_unknowns = true;
  options.keep_secrets = true;
  options.keep_byte_strings = true;
  const Result<void> encoded = EncodeStruct(map, options, bag);
  REQUIRE(encoded.has_value());
}

PropertyMap BagOf(const google::protobuf::Struct& bag) {
  CodecOptions options;
  options.keep_unknowns = true;
  options.keep_secrets = true;
  Result<PropertyMap> map = DecodeStruct(bag, options);
  REQUIRE(map.has_value());
  return *std::move(map);
}

std::string UrnOf(const std::string& type, const std::string& name) {
  return "urn:pulumi:dev::proj::" + type + "::" + name;
}

ResourceDriver::ResourceDriver(PluginDriver& plugin, std::string type, std::string name)
    : plugin_(plugin), type_(std::move(type)), name_(std::move(name)) {}

pulumirpc::CheckResponse ResourceDriver::Check(const PropertyMap& news, const PropertyMap& olds) {
  pulumirpc::CheckRequest request;
  request.set_urn(UrnOf(type_, name_));
  request.set_type(type_);
  request.set_name(name_);
  SetBag(olds, request.mutable_olds());
  SetBag(news, request.mutable_news());
  return plugin_.Call<pulumirpc::CheckResponse>("Check", request);
}

PropertyMap ResourceDriver::Checked(const PropertyMap& news) {
  const pulumirpc::CheckResponse response = Check(news);
  for (const pulumirpc::CheckFailure& failure : response.failures()) {
    FAIL(failure.property() << ": " << failure.reason());
  }
  return BagOf(response.inputs());
}

std::vector<std::string> ResourceDriver::Failures(const PropertyMap& news) {
  std::vector<std::string> failures;
  const pulumirpc::CheckResponse response = Check(news);
  for (const pulumirpc::CheckFailure& failure : response.failures()) {
    failures.push_back(failure.property() + ": " + failure.reason());
  }
  return failures;
}

pulumirpc::DiffResponse ResourceDriver::Diff(const std::string& id,
                                             const PropertyMap& old_inputs,
                                             const PropertyMap& old_outputs,
                                             const PropertyMap& news) {
  pulumirpc::DiffRequest request;
  request.set_id(id);
  request.set_urn(UrnOf(type_, name_));
  request.set_type(type_);
  SetBag(old_inputs, request.mutable_old_inputs());
  SetBag(old_outputs, request.mutable_olds());
  SetBag(news, request.mutable_news());
  return plugin_.Call<pulumirpc::DiffResponse>("Diff", request);
}

pulumirpc::CreateRequest ResourceDriver::CreateRequestFor(const PropertyMap& inputs,
                                                          bool is_preview) const {
  pulumirpc::CreateRequest request;
  request.set_urn(UrnOf(type_, name_));
  request.set_type(type_);
  request.set_name(name_);
  request.set_preview(is_preview);
  SetBag(inputs, request.mutable_properties());
  return request;
}

pulumirpc::CreateResponse ResourceDriver::Create(const PropertyMap& inputs, bool is_preview) {
  return plugin_.Call<pulumirpc::CreateResponse>("Create", CreateRequestFor(inputs, is_preview));
}

RpcStatus ResourceDriver::CreateStatus(const PropertyMap& inputs) {
  return plugin_.Status("Create", CreateRequestFor(inputs));
}

pulumirpc::ReadResponse ResourceDriver::Read(const std::string& id,
                                             const PropertyMap& inputs,
                                             const PropertyMap& state) {
  pulumirpc::ReadRequest request;
  request.set_id(id);
  request.set_urn(UrnOf(type_, name_));
  request.set_type(type_);
  if (!inputs.empty()) {
    SetBag(inputs, request.mutable_inputs());
    SetBag(state, request.mutable_properties());
  }
  return plugin_.Call<pulumirpc::ReadResponse>("Read", request);
}

pulumirpc::UpdateRequest ResourceDriver::UpdateRequestFor(const std::string& id,
                                                          const PropertyMap& old_inputs,
                                                          const PropertyMap& old_outputs,
                                                          const PropertyMap& news,
                                                          bool is_preview) const {
  pulumirpc::UpdateRequest request;
  request.set_id(id);
  request.set_urn(UrnOf(type_, name_));
  request.set_type(type_);
  request.set_preview(is_preview);
  SetBag(old_inputs, request.mutable_old_inputs());
  SetBag(old_outputs, request.mutable_olds());
  SetBag(news, request.mutable_news());
  return request;
}

PropertyMap ResourceDriver::Update(const std::string& id,
                                   const PropertyMap& old_inputs,
                                   const PropertyMap& old_outputs,
                                   const PropertyMap& news,
                                   bool is_preview) {
  const auto response = plugin_.Call<pulumirpc::UpdateResponse>(
      "Update", UpdateRequestFor(id, old_inputs, old_outputs, news, is_preview));
  return BagOf(response.properties());
}

RpcStatus ResourceDriver::Delete(const std::string& id,
                                 const PropertyMap& inputs,
                                 const PropertyMap& outputs) {
  pulumirpc::DeleteRequest request;
  request.set_id(id);
  request.set_urn(UrnOf(type_, name_));
  request.set_type(type_);
  SetBag(inputs, request.mutable_old_inputs());
  SetBag(outputs, request.mutable_properties());
  return plugin_.Status("Delete", request);
}

std::vector<std::string> DetailOf(const pulumirpc::DiffResponse& response) {
  std::vector<std::string> entries;
  for (const auto& [path, diff] : response.detaileddiff()) {
    entries.push_back(path + ": " + pulumirpc::PropertyDiff::Kind_Name(diff.kind()));
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

}  // namespace davit::testing
