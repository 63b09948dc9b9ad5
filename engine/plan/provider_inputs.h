#pragma once
// Layout of provider resources' inputs (E165, P46): what belongs to the plugin and what to its
// configuration. Pure.

#include <string>

#include "engine/model/provider_ref.h"
#include "engine/provider.h"
#include "engine/source.h"

namespace davit {

/// The inputs as the provider sees them: without `__internal` (P47).
PropertyMap WithoutInternal(const PropertyMap& inputs);
/// Adds version, URL, checksums, parameters and environment mappings to configuration inputs (E165,
/// E166).
PropertyMap WithPackage(PropertyMap config,
                        const PackageDescriptor& package,
                        const std::map<std::string, std::string>& env_var_mappings);
/// The plugin that serves a provider resource (P46); falls back to the top level for old states.
Result<PluginSpec> PluginOf(std::string_view package, const PropertyMap& inputs);
/// The plugin that a package descriptor names.
PluginSpec PluginOf(const PackageDescriptor& package);
/// Name of a default provider resource (E172).
std::string DefaultProviderName(const PackageDescriptor& package);
/// Configuration of a default provider (E172, S106): the stack configuration in the package's
/// namespace.
PropertyMap DefaultProviderConfig(std::string_view package,
                                  const std::map<std::string, ConfigValue>& config);
/// Whether `pulumi:disable-default-providers` denies the package (E173). An unreadable value is an
/// error.
Result<bool> IsDefaultProviderDenied(std::string_view package,
                                     const std::map<std::string, ConfigValue>& config);

}  // namespace davit
