#pragma once
// What a program asks for: one resource registration (E57, P99). Values.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/resource_state.h"

namespace davit {

/// An alias by URN, or by what differs from the resource itself (E47).
struct AliasSpec {
  Urn urn;  ///< when set, all else is empty
  std::optional<std::string> name;
  std::optional<std::string> type;
  std::optional<std::string> project;
  std::optional<std::string> stack;
  Urn parent;
  bool no_parent = false;
};

struct Goal {
  std::string type;
  std::string name;
  bool custom = true;
  bool remote = false;
  Urn parent;
  PropertyMap properties;
  std::vector<Urn> dependencies;
  std::map<std::string, std::vector<Urn>> property_dependencies;
  /// Whether `property_dependencies` was sent at all; if not, every property depends on all dependencies (E54).
  bool has_property_dependencies = true;
  std::string provider;  ///< reference, empty: inherited or default
  std::map<std::string, std::string> providers;
  std::string version;
  std::string download_url;
  std::map<std::string, std::string> checksums;
  std::string package_ref;
  std::string extension_ref;  ///< of the extension package that `package_ref` names, if it is one
  std::optional<bool> protect;
  std::optional<bool> retain_on_delete;
  std::optional<bool> delete_before_replace;
  std::vector<std::string> ignore_changes;
  std::vector<std::string> replace_on_changes;
  std::vector<std::string> additional_secret_outputs;
  std::vector<std::string> hide_diffs;
  std::vector<AliasSpec> aliases;
  std::string import_id;
  CustomTimeouts custom_timeouts;
  Urn deleted_with;
  std::vector<Urn> replace_with;
  PropertyValue replacement_trigger;
  std::map<std::string, std::string> env_var_mappings;
  std::map<std::string, std::vector<std::string>> hooks;  ///< names by occasion, as in records (E187)
  std::string source_position;
  std::vector<std::string> stack_trace;
  std::string parent_stack_trace_handle;  ///< of the Construct or Call that this is part of (P107)
  bool accepts_secrets = true;
  bool supports_partial_values = true;
  bool supports_result_reporting = true;
};

}  // namespace davit
