#pragma once
// The ResourceProvider service without its transport: a serialised request in, a serialised answer
// out (P42-P49, P69-P81 from the provider's side). Any thread.

#include <atomic>
#include <map>
#include <string>
#include <string_view>

#include "providers/kit/provider.h"

namespace davit::kit {

/// A call as the server sees it.
class ServedCall : public CallContext {
 public:
  std::string urn;  ///< of the resource concerned, once the request has been read
};

class ProviderService {
 public:
  explicit ProviderService(ProviderPackage package);

  /// Serves one call; never throws. `method` is the bare name.
  RawAnswer Answer(std::string_view method, const std::string& request, ServedCall& call);
  /// The engine's address in a Handshake or Attach request; empty for other calls.
  static std::string EngineAddressIn(std::string_view method, const std::string& request);

 private:
  RawAnswer Dispatch(std::string_view method, const std::string& request, ServedCall& call);
  RawAnswer Handshake(const std::string& request);
  RawAnswer GetSchema(const std::string& request);
  RawAnswer GetPluginInfo();
  RawAnswer CheckConfig(const std::string& request);
  RawAnswer DiffConfig(const std::string& request);
  RawAnswer Configure(const std::string& request, ServedCall& call);
  RawAnswer Check(const std::string& request, ServedCall& call);
  RawAnswer Diff(const std::string& request, ServedCall& call);
  RawAnswer Create(const std::string& request, ServedCall& call);
  RawAnswer Read(const std::string& request, ServedCall& call);
  RawAnswer Update(const std::string& request, ServedCall& call);
  RawAnswer Delete(const std::string& request, ServedCall& call);
  RawAnswer Invoke(const std::string& request, ServedCall& call);

  Result<ResourceHandler*> HandlerOf(const std::string& urn, const std::string& type) const;

  ProviderPackage package_;
  std::string schema_json_;
  std::map<std::string, std::shared_ptr<ResourceHandler>, std::less<>> handlers_;
  std::map<std::string, Function, std::less<>> functions_;
  std::atomic<bool> engine_accepts_byte_strings_ = false;
};

}  // namespace davit::kit
