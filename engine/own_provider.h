#pragma once
// A provider that davit serves in its own process. Engine thread.

#include "engine/provider.h"

namespace davit {

/// What all such providers have in common: they are always there and take no configuration.
class OwnProvider : public Provider {
 public:
  bool is_alive() const override { return true; }
  bool supports_preview() const override { return true; }
  Task<Result<CheckResponse>> CheckConfig(CheckRequest request, CancelToken) override {
    CheckResponse response;
    response.inputs = std::move(request.news);
    co_return response;
  }
  Task<Result<DiffResponse>> DiffConfig(DiffRequest, CancelToken) override {
    DiffResponse response;
    response.changes = DiffChanges::kNone;
    co_return response;
  }
  Task<Result<void>> Configure(ConfigureRequest, CancelToken) override { co_return Result<void>(); }
};

}  // namespace davit
