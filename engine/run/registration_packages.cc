// The packages that a program registers and names (E171, E175).
#include <fmt/format.h>

#include "engine/base/semver.h"
#include "engine/run/extensions.h"
#include "engine/run/registration.h"

namespace davit {

Task<Result<std::string>> RegistrationMonitor::RegisterPackage(PackageDescriptor package) {
  if (package.name.empty()) {
    co_return Fail(ErrorKind::kInvalid, "a package without name was registered", "give its name");
  }
  for (const auto& [ref, known] : packages_) {  // E175: equal requests get the same reference
    if (known.name == package.name && known.version == package.version &&
        known.download_url == package.download_url &&
        known.parameterization == package.parameterization &&
        known.extension == package.extension) {
      co_return ref;
    }
  }
  std::string ref = context_.request.ids->NewUuid();
  if (package.extension) {
    ref = ExtensionReference(*package.extension);
    context_.extensions[ref] =
        Extension{package.extension->name, package.extension->version, package.extension->value};
  }
  packages_.emplace(ref, std::move(package));
  co_return ref;
}

Result<PackageDescriptor> RegistrationMonitor::PackageFor(std::string_view package,
                                                          const std::string& ref,
                                                          const std::string& version,
                                                          const std::string& url) const {
  if (!ref.empty()) {
    const auto at = packages_.find(ref);
    if (at == packages_.end()) {
      return Fail(ErrorKind::kInvalid,
                  fmt::format("the package reference '{}' is not known", ref),
                  "register the package first");
    }
    return at->second;
  }
  PackageDescriptor descriptor;
  descriptor.name = std::string(package);
  descriptor.version = version;
  descriptor.download_url = url;
  return descriptor;
}

// E171: the highest version that the program reports for a package.
void RegistrationMonitor::FillFromRequired(PackageDescriptor& package) const {
  if (!package.version.empty() || package.parameterization) {
    return;
  }
  const PackageDescriptor* best = nullptr;
  for (const PackageDescriptor& required : required_) {
    if (required.name != package.name) {
      continue;
    }
    const std::optional<Semver> version = Semver::ParseTolerant(required.version);
    const std::optional<Semver> other =
        best == nullptr ? std::nullopt : Semver::ParseTolerant(best->version);
    if (best == nullptr || (version && (!other || *other < *version))) {
      best = &required;
    }
  }
  if (best != nullptr) {
    package.version = best->version;
    if (package.download_url.empty()) {
      package.download_url = best->download_url;
    }
  }
}

}  // namespace davit
