#pragma once
// What a ProviderClient keeps, for its three .cc files: loading, life cycle, components.

#include <google/protobuf/struct.pb.h>

#include <initializer_list>

#include "host/client/provider_client.h"
#include "host/loop/asio_loop.h"
#include "host/plugin/plugin_process.h"
#include "host/wire/status_codec.h"
#include "host/wire/typed_call.h"
#include "host/wire/value_codec.h"

#include "pulumirpc/provider.pb.h"

namespace davit {

struct ProviderClient::Impl {
  explicit Impl(ProviderClientOptions given)
      : options(std::move(given)), channel(*options.loop, options.target) {}

  ProviderClientOptions options;
  RawChannel channel;
  ProviderFeatures features;
  bool has_handshake = false;
  std::string version;
  std::string subpackage_name;  ///< after Parameterize
  std::string subpackage_version;
  std::optional<std::chrono::nanoseconds> call_deadline;
  bool has_acknowledged_cancel = false;
  bool has_reported_exit = false;  ///< an error has named the exit of the process
  bool is_closed = false;

  RpcPeer Peer() {
    return RpcPeer{.loop = options.loop,
                   .channel = &channel,
                   .trace = options.trace,
                   .trace_metadata = &options.trace_metadata};
  }

  /// One call of the service's method `rpc`.
  Task<RpcStatus> Send(std::string rpc,
                       const google::protobuf::Message& request,
                       google::protobuf::Message* response,
                       const HiddenTexts* secrets,
                       CancelToken cancel);
  /// The error of a failed call. When the connection broke, waits shortly for the exit of the
  /// process, so that the error can name it (P35).
  Task<Error> Explain(RpcStatus status, std::string rpc, Urn urn, Ambiguity ambiguity);

  // --- codec (P69)

  enum class Unknowns { kDrop, kKeep, kReject };
  CodecOptions Request(bool keep_unknowns, bool elide_assets) const;
  static CodecOptions Response(Unknowns unknowns);
  /// Parameterize by a value; the answer is the plugin's own.
  Task<Result<pulumirpc::ParameterizeResponse>> ParameterizeWith(Parameterization value,
                                                                 CancelToken cancel);
  /// Secrets to hide in the trace, when they travel bare.
  HiddenTexts Secrets(std::initializer_list<const PropertyMap*> maps,
                      const std::vector<View>& views = {}) const;
  /// P68, when the plugin does not keep secrets.
  PropertyMap Annotated(PropertyMap target, const PropertyMap& source) const;
};

/// Decodes a struct that may be absent.
Result<PropertyMap> DecodeOrEmpty(bool is_present,
                                  const google::protobuf::Struct& in,
                                  const CodecOptions& options);

/// An error of encoding: nothing was sent.
Unexpected NotSent(Error error, const std::string& rpc);
/// A reply that arrived but makes no sense; what the call did is not known, unless it only
/// computes.
Unexpected BadReply(Error error, const std::string& rpc, Ambiguity ambiguity);

}  // namespace davit
