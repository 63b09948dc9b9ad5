#include "engine/run/extensions.h"

#include <fmt/format.h>

#include "engine/base/digest.h"

namespace davit {
namespace {

Task<Result<void>> GiveExtension(InstancePtr provider, std::string reference, Extension extension) {
  using Extending = ProviderInstance::Extending;
  const std::string name = extension.name;
  const auto at = provider->extensions.find(reference);
  std::shared_ptr<Extending> extending = at == provider->extensions.end() ? nullptr : at->second;
  if (!extending) {
    extending = std::make_shared<Extending>();
    provider->extensions.emplace(reference, extending);
    Parameterization value;
    value.name = std::move(extension.name);
    value.version = std::move(extension.version);
    value.value = std::move(extension.value);
    Result<void> given = co_await provider->provider->Extend(std::move(value), CancelToken());
    if (!given) {
      extending->error = given.error();
      provider->extensions.erase(reference);
    }
    extending->done.Open();
  } else {
    co_await extending->done.Wait();
  }
  if (extending->error) {
    Error error = *extending->error;
    co_return Fail(std::move(error).WithContext(
        fmt::format("the provider did not take the extension '{}'", name)));
  }
  co_return Result<void>();
}

}  // namespace

std::string ExtensionReference(const Parameterization& extension) {
  std::string text = extension.name;
  text += '\0';
  text += extension.version;
  text += '\0';
  text += extension.value;
  return Sha256Hex(text);
}

Task<Result<void>> EnsureExtension(RunContext& context,
                                   InstancePtr provider,
                                   std::string reference,
                                   ExtensionUse use) {
  if (reference.empty() || !provider || provider->is_config_unknown) {
    co_return Result<void>();
  }
  const auto known = context.extensions.find(reference);
  if (known == context.extensions.end()) {
    co_return Fail(ErrorKind::kInvalid,  // E178
                   fmt::format("the extension '{}' is not in the state", reference),
                   "run `davit up` with the program that declares it");
  }
  const Extension extension = known->second;
  const bool is_step = use == ExtensionUse::kRegistration &&
                       context.extended.emplace(provider.get(), reference).second;
  if (is_step) {
    context.reporter.ExtensionPlanned();
  }
  Result<void> given = co_await GiveExtension(provider, reference, extension);
  if (!given) {
    if (is_step) {  // the next registration makes a step of it again
      context.extended.erase({provider.get(), reference});
    }
    co_return given;
  }
  if (is_step && context.preview) {
    context.reporter.ExtensionDone();
  }
  if (is_step && !context.request.base.extensions.contains(reference)) {
    JournalEntry entry;
    entry.kind = JournalKind::kExtension;
    entry.operation_id = ++context.last_operation;
    entry.extension_ref = reference;
    entry.extension = extension;
    DAVIT_CO_TRY_VOID(co_await context.Write(std::move(entry)));
  }
  co_return Result<void>();
}

}  // namespace davit
