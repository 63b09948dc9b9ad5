#include "cli/import_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "engine/base/semver.h"

namespace davit {
namespace {

constexpr std::string_view kPlaceholderId = "<PLACEHOLDER>";  // C13: of `preview --import-file`

bool IsProviderEntry(const ImportEntry& entry) {
  return entry.type.starts_with(kProviderTypePrefix);
}

class ImportResolver {
 public:
  ImportResolver(const ImportFile& file, const std::string& stack, const std::string& project)
      : file_(file), stack_(stack), project_(project), urns_(file.entries.size()) {}

  Result<ImportOrder> Run(bool protect) {
    for (const ImportEntry& entry : file_.entries) {
      if (!entries_.emplace(entry.name, &entry).second) {
        ambiguous_.insert(entry.name);
      }
    }
    for (const ImportEntry& entry : file_.entries) {
      CheckEntry(entry);
    }
    if (faults_.empty()) {
      FindUrns();
    }
    ImportOrder order;
    for (std::size_t index = 0; faults_.empty() && index < urns_.size(); ++index) {
      order.specs.push_back(SpecOf(index, protect));
      order.names.push_back(NamesOf(file_.entries[index]));
    }
    if (!faults_.empty()) {
      return Fail(ErrorKind::kInvalid,
                  faults_.size() == 1 ? faults_.front()
                                      : fmt::format("{} mistakes in the import:\n    {}",
                                                    faults_.size(),
                                                    fmt::join(faults_, "\n    ")));
    }
    return order;
  }

 private:
  void Fault(const ImportEntry& entry, std::string_view what) {
    faults_.push_back(fmt::format("resource '{}' of type '{}' {}",
                                  entry.name.empty() ? entry.id : entry.name,
                                  entry.type,
                                  what));
  }

  void CheckEntry(const ImportEntry& entry) {
    if (entry.type.empty()) {
      Fault(entry, "has no type");
    } else if (std::ranges::count(entry.type, ':') != 2) {
      Fault(entry, "needs a type of the form package:module:Name");
    }
    if (entry.name.empty()) {
      Fault(entry, "has no name");
    }
    if (entry.is_component || IsProviderEntry(entry)) {
      if (!entry.id.empty()) {
        Fault(entry,
              entry.is_component ? "has an id, but is marked as a component"
                                 : "has an id, but is a provider, which is made and not read");
      }
    } else if (entry.id.empty()) {
      Fault(entry, "has no id");
    } else if (entry.id == kPlaceholderId) {
      Fault(entry, "has the placeholder for an id; put the id of the object there");
    }
    if (IsProviderEntry(entry) && (entry.is_component || !entry.parent.empty() || entry.outputs)) {
      Fault(entry, "is a provider, which has no parent and outputs and is no component");
    }
    if (entry.is_component && (!entry.inputs.empty() || entry.outputs)) {
      Fault(entry, "is a component, whose inputs and outputs cannot be imported");
    }
    if (entry.is_remote && !entry.is_component) {
      Fault(entry, "is marked as remote, but not as a component");
    }
    if (!entry.version.empty() && !Semver::ParseTolerant(entry.version)) {
      Fault(entry, fmt::format("has the version '{}', which is none", entry.version));
    }
    CheckName(entry, "parent", entry.parent, false);
    CheckName(entry, "provider", entry.provider, true);
  }

  // A name stands for what the table says, else for the one entry that has it.
  void CheckName(const ImportEntry& entry,
                 const char* what,
                 const std::string& name,
                 bool is_of_provider) {
    if (name.empty()) {
      return;
    }
    const auto listed = file_.names.find(name);
    const auto own = entries_.find(name);
    bool is_provider = own != entries_.end() && IsProviderEntry(*own->second);
    if (listed != file_.names.end()) {
      const Result<Urn> urn = Urn::Parse(listed->second);
      if (!urn) {
        Fault(entry,
              fmt::format("has the {} '{}', which is no URN: '{}'", what, name, listed->second));
        return;
      }
      is_provider = urn->is_provider();
    } else if (own == entries_.end()) {
      Fault(entry,
            fmt::format(
                "has the {} '{}', which is neither in 'nameTable' nor in 'resources'", what, name));
      return;
    } else if (ambiguous_.contains(name)) {
      Fault(entry, fmt::format("has the {} '{}', a name that several resources have", what, name));
      return;
    }
    if (is_of_provider && !is_provider) {
      Fault(entry, fmt::format("has the provider '{}', which is none", name));
    }
  }

  // URN of what a checked name stands for; entries before their own URN is known: empty.
  Urn UrnOf(const std::string& name) const {
    if (name.empty()) {
      return Urn();
    }
    const auto listed = file_.names.find(name);
    return listed != file_.names.end()
               ? Urn::Trusted(listed->second)
               : urns_[static_cast<std::size_t>(entries_.at(name) - file_.entries.data())];
  }

  // Parents may come later in the file: as long as there is progress.
  void FindUrns() {
    bool is_found = true;
    while (is_found) {
      is_found = false;
      for (std::size_t index = 0; index < urns_.size(); ++index) {
        const ImportEntry& entry = file_.entries[index];
        const Urn parent = UrnOf(entry.parent);
        if (!urns_[index].empty() || (!entry.parent.empty() && parent.empty())) {
          continue;
        }
        urns_[index] = Urn::Make(stack_,
                                 project_,
                                 parent,
                                 entry.type,
                                 entry.logical_name.empty() ? entry.name : entry.logical_name);
        is_found = true;
      }
    }
    std::unordered_set<Urn> seen;
    for (std::size_t index = 0; index < urns_.size(); ++index) {
      if (urns_[index].empty()) {
        Fault(file_.entries[index], "is among its own ancestors");
      } else if (!seen.insert(urns_[index]).second) {
        Fault(file_.entries[index],
              fmt::format("has the same URN as another, '{}'; give it another name or logicalName",
                          urns_[index].text()));
      }
    }
  }

  ImportSpec SpecOf(std::size_t index, bool protect) const {
    const ImportEntry& entry = file_.entries[index];
    ImportSpec spec;
    spec.urn = urns_[index];
    spec.id = entry.id;
    spec.parent = UrnOf(entry.parent);
    spec.provider = UrnOf(entry.provider);
    spec.package.name =
        std::string(IsProviderEntry(entry) ? entry.type.substr(kProviderTypePrefix.size())
                                           : PackageOf(entry.type));
    spec.package.version = entry.version;
    spec.package.download_url = entry.download_url;
    if (entry.parameterization) {
      Parameterization parameters;
      parameters.name = spec.package.name;
      parameters.version = entry.version;
      parameters.value = entry.parameterization->value;
      spec.package.name = entry.parameterization->plugin_name;
      spec.package.version = entry.parameterization->plugin_version;
      spec.package.parameterization = std::move(parameters);
    }
    spec.is_component = entry.is_component;
    spec.is_remote = entry.is_remote;
    spec.protect = protect;
    spec.limits_properties = !entry.properties.empty();
    spec.inputs = entry.inputs;
    spec.outputs = entry.outputs;
    return spec;
  }

  ImportNames NamesOf(const ImportEntry& entry) {
    ImportNames names;
    names.key = entry.name;
    if (keys_.contains(names.key)) {
      names.key += entry.type.substr(entry.type.rfind(':') + 1);
    }
    const std::string base = names.key;
    for (int number = 2; !keys_.insert(names.key).second; ++number) {
      names.key = base + std::to_string(number);
    }
    names.parent = entry.parent;
    names.provider = entry.provider;
    return names;
  }

  const ImportFile& file_;
  const std::string& stack_;
  const std::string& project_;
  std::unordered_map<std::string, const ImportEntry*> entries_;  ///< by name, the first
  std::unordered_set<std::string> ambiguous_;                    ///< names of several entries
  std::vector<Urn> urns_;
  std::vector<std::string> faults_;
  std::set<std::string> keys_;
};

}  // namespace

Result<ImportOrder> ResolveImports(const ImportFile& file,
                                   const std::string& stack,
                                   const std::string& project,
                                   bool protect) {
  return ImportResolver(file, stack, project).Run(protect);
}

}  // namespace davit
