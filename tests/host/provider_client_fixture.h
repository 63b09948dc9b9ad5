#pragma once
// A ProviderClient that is connected to a ScriptedServer.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "host/client/provider_client.h"
#include "tests/host/scripted_server.h"
#include "tests/host/host_fixture.h"

namespace davit::testing {

namespace rpc = pulumirpc;

inline constexpr const char* kSignature = "4dabf18193072939515e22adb298388d";
inline constexpr const char* kSecretSignature = "1b47061264138c4ac30d75fd1eb44270";
inline const Urn kUrn =
    Urn::Trusted("urn:pulumi:dev::golden::pkg:index:Outer$pkg:index:Thing::a::b");
inline const Urn kProviderUrn = Urn::Trusted("urn:pulumi:dev::golden::pulumi:providers:pkg::p");

struct Connection {
  AsioLoop loop;
  ScriptedServer fake;
  std::shared_ptr<ProviderClient> client;

  Connection() {
    ProviderClientOptions options;
    options.loop = &loop;
    options.package = "pkg";
    options.target = fake.address();
    options.status_address = "127.0.0.1:1";
    client = std::make_shared<ProviderClient>(std::move(options));
  }
  ~Connection() { Await(loop, client->Close()); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // A provider that negotiates by Handshake.
  void Handshake(bool accepts_secrets = true) {
    fake.handshake = [accepts_secrets](const auto&, rpc::ProviderHandshakeResponse* response) {
      response->set_accept_secrets(accepts_secrets);
      response->set_accept_resources(true);
      response->set_accepts_byte_string(true);
      return FakeStatus();
    };
    REQUIRE(Await(loop, client->Handshake(HandshakeRequest(), std::chrono::seconds(10), {})));
  }
};

/// Names of the fields that are set, sorted.
inline std::vector<std::string> FieldsOf(const google::protobuf::Message& message) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  std::vector<std::string> names;
  for (const auto* field : fields) {
    names.push_back(field->name());
  }
  std::ranges::sort(names);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace davit::testing
