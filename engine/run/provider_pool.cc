#include "engine/run/provider_pool.h"

#include <algorithm>

#include "engine/deployment.h"

namespace davit {
namespace {

bool SameSpec(const PluginSpec& a, const PluginSpec& b) {
  return a.name == b.name && a.version == b.version && a.download_url == b.download_url &&
         a.parameterization == b.parameterization && a.env_var_mappings == b.env_var_mappings;
}

}  // namespace

Task<void> ProviderPool::Load(std::shared_ptr<Loading> loading, CancelToken cancel) {
  if (loading->spec.name == kBuiltinPackage) {
    loading->done.Set(MakeBuiltinProvider(builtins_));
    co_return;
  }
  Result<std::shared_ptr<Provider>> provider = co_await host_.LoadProvider(loading->spec, cancel);
  if (provider) {
    all_.push_back(*provider);
  }
  loading->done.Set(std::move(provider));
}

void ProviderPool::Preload(PluginSpec spec) {
  const auto has_spec = [&](const auto& entry) { return SameSpec(entry->spec, spec); };
  if (std::ranges::any_of(loading_, has_spec) || std::ranges::any_of(idle_, has_spec)) {
    return;
  }
  auto loading = std::make_shared<Loading>();
  loading->spec = std::move(spec);
  loading_.push_back(loading);
  scope_.Spawn(Load(loading, stop_.token()));
}

InstancePtr ProviderPool::TakeIdle(const PluginSpec& spec,
                                   const Urn& urn,
                                   const PropertyMap* wanted) {
  std::erase_if(idle_, [](const InstancePtr& instance) { return !instance->provider->is_alive(); });
  auto found = idle_.end();
  if (wanted != nullptr) {
    found = std::ranges::find_if(idle_, [&](const InstancePtr& instance) {
      return SameSpec(instance->spec, spec) && instance->configured_with &&
             instance->configured_urn == urn && *instance->configured_with == *wanted;
    });
  }
  if (found == idle_.end()) {
    found = std::ranges::find_if(idle_, [&](const InstancePtr& instance) {
      return SameSpec(instance->spec, spec) && !instance->configured_with;
    });
  }
  if (found == idle_.end()) {
    return nullptr;
  }
  InstancePtr instance = *found;
  idle_.erase(found);
  instance->is_config_unknown = false;
  return instance;
}

Task<Result<InstancePtr>> ProviderPool::Take(PluginSpec spec,
                                             Urn urn,
                                             const PropertyMap* wanted,
                                             CancelToken cancel) {
  InstancePtr idle = TakeIdle(spec, urn, wanted);
  if (idle) {
    co_return idle;
  }
  const auto at = std::ranges::find_if(
      loading_, [&](const auto& entry) { return SameSpec(entry->spec, spec); });
  std::shared_ptr<Loading> loading;
  if (at != loading_.end()) {
    loading = *at;
    loading_.erase(at);
  } else {
    loading = std::make_shared<Loading>();
    loading->spec = spec;
    scope_.Spawn(Load(loading, cancel));
  }
  Result<std::shared_ptr<Provider>>& provider = co_await loading->done.Wait();
  if (!provider) {
    co_return Fail(provider.error());
  }
  auto instance = std::make_shared<ProviderInstance>();
  instance->provider = *provider;
  instance->spec = std::move(spec);
  co_return instance;
}

void ProviderPool::Return(InstancePtr instance) {
  idle_.push_back(std::move(instance));
}

Task<Result<std::string>> ProviderPool::GetSchema(PluginSpec spec, CancelToken cancel) {
  const bool is_stored = schemas_ != nullptr && spec.name != kBuiltinPackage;
  if (is_stored) {
    std::optional<std::string> known = schemas_->Find(spec);
    if (known) {
      co_return *std::move(known);
    }
  }
  Result<InstancePtr> instance = co_await Take(spec, Urn(), nullptr, cancel);
  if (!instance) {
    co_return Fail(std::move(instance).error());
  }
  Result<std::string> schema = co_await (*instance)->provider->GetSchema(cancel);
  Return(*instance);
  if (is_stored && schema) {
    schemas_->Keep(spec, *schema);
  }
  co_return schema;
}

Task<void> ProviderPool::CancelAll() {
  for (std::size_t index = 0; index < all_.size(); ++index) {  // may grow meanwhile
    const std::shared_ptr<Provider> provider = all_[index].lock();
    if (provider && provider->is_alive()) {
      const Result<void> ignored = co_await provider->Cancel();  // a refusal changes nothing (E35)
      static_cast<void>(ignored);
    }
  }
}

Task<void> ProviderPool::CloseOne(std::shared_ptr<Provider> provider) {
  co_await provider->Close();
}

Task<void> ProviderPool::CloseAll() {
  stop_.Cancel();
  co_await scope_.Join();
  std::vector<std::shared_ptr<Provider>> open;
  for (const std::weak_ptr<Provider>& entry : all_) {
    if (std::shared_ptr<Provider> provider = entry.lock()) {
      open.push_back(std::move(provider));
    }
  }
  for (std::shared_ptr<Loading>& loading : loading_) {
    if (loading->done.is_set()) {
      Result<std::shared_ptr<Provider>>& provider = co_await loading->done.Wait();
      if (provider) {
        open.push_back(*provider);
      }
    }
  }
  std::ranges::sort(open);
  open.erase(std::unique(open.begin(), open.end()), open.end());
  idle_.clear();
  loading_.clear();
  all_.clear();
  for (const std::shared_ptr<Provider>& provider : open) {
    scope_.Spawn(CloseOne(provider));
  }
  co_await scope_.Join();
}

std::shared_ptr<ProviderPool> MakeProviderPool(Loop& loop, PluginHost& host) {
  return std::make_shared<ProviderPool>(loop, host);
}

void PreloadProvider(ProviderPool& pool, PluginSpec spec) {
  pool.Preload(std::move(spec));
}

Task<void> CloseProviders(std::shared_ptr<ProviderPool> pool) {
  co_await pool->CloseAll();
}

}  // namespace davit
