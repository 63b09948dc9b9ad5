// The order of evaluation of a program (Y130, Y131), and what each node needs.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/yaml/nearest.h"
#include "engine/yaml/program.h"

namespace davit {
namespace {

class Orderer {
 public:
  Orderer(YamlProgram* program, std::vector<Error>* errors) : program_(*program), errors_(errors) {}

  void Run() {
    FindDefaultProviders();
    Order();
  }

 private:
  void Problem(SourceRange where, std::string message, std::string advice = {}) {
    Error error = MakeError(ErrorKind::kInvalid, std::move(message), std::move(advice));
    error.where = std::move(where);
    errors_->push_back(std::move(error));
  }

  void FindDefaultProviders() {
    for (std::size_t index = 0; index < program_.resources.size(); ++index) {
      const YamlResource& resource = program_.resources[index];
      if (resource.is_default_provider && resource.type.starts_with("pulumi:providers:")) {
        const std::string package =
            resource.type.substr(std::string_view("pulumi:providers:").size());
        const auto [first, is_new] = program_.default_providers.emplace(package, index);
        if (!is_new) {
          Problem(resource.where, fmt::format("there are two default providers for '{}'", package));
          errors_->back().related.push_back(
              {"the first one", program_.resources[first->second].where});
        }
      }
    }
  }

  // References of one node, in the order of the text; unknown names are errors.
  void Reference(const YamlAccess& access, std::vector<YamlNodeRef>* needs) {
    const std::optional<YamlNodeRef> found = program_.Resolve(access.root);
    if (found) {
      if (std::ranges::find(*needs, *found) == needs->end()) {
        needs->push_back(*found);
      }
      return;
    }
    if (access.root == "pulumi") {
      return;
    }
    undeclared_.push_back(access);
  }

  std::vector<YamlNodeRef> NeedsOf(const YamlNodeRef& node) {
    std::vector<YamlNodeRef> needs;
    const auto visit = [&](const YamlAccess& access) { Reference(access, &needs); };
    const auto expr = [&](const YamlExprPtr& value) {
      if (value) {
        VisitAccesses(*value, visit);
        VisitCalls(*value, [&](const YamlExpr& call) {
          NeedDefaultProvider(FunctionPackage(call), &needs);
        });
      }
    };
    if (node.kind == YamlNodeKind::kConfig) {
      expr(program_.config[node.index].default_value);
    } else if (node.kind == YamlNodeKind::kVariable) {
      expr(program_.variables[node.index].value);
    } else if (node.kind == YamlNodeKind::kRequirement) {
      expr(program_.required_version);
    } else {
      const YamlResource& resource = program_.resources[node.index];
      for (const YamlProperty& property : resource.properties) {
        expr(property.value);
      }
      expr(resource.properties_expr);
      expr(resource.get_id);
      for (const YamlProperty& property : resource.get_state) {
        expr(property.value);
      }
      for (const YamlOption& option : resource.options) {
        expr(option.value);
      }
      if (resource.Option("provider") == nullptr &&
          !resource.type.starts_with("pulumi:providers:")) {
        NeedDefaultProvider(resource.type.substr(0, resource.type.find(':')), &needs);
      }
    }
    return needs;
  }

  static std::string FunctionPackage(const YamlExpr& call) {
    std::string token = call.function;
    if (token == "invoke" && call.argument->kind == YamlExpr::Kind::kMap) {
      for (const auto& [key, value] : call.argument->entries) {
        const std::string* name = key->literal.as_string();
        if (name != nullptr && SameIgnoringCase(*name, "function") && value->literal.is_string()) {
          token = *value->literal.as_string();
        }
      }
    }
    return token.find(':') == std::string::npos ? std::string() : token.substr(0, token.find(':'));
  }

  void NeedDefaultProvider(const std::string& package, std::vector<YamlNodeRef>* needs) {
    const auto at = program_.default_providers.find(package);
    if (at != program_.default_providers.end()) {
      const YamlNodeRef ref{YamlNodeKind::kResource, at->second};
      if (std::ranges::find(*needs, ref) == needs->end()) {
        needs->push_back(ref);
      }
    }
  }

  std::string NameOf(const YamlNodeRef& node) const {
    switch (node.kind) {
      case YamlNodeKind::kConfig:
        return program_.config[node.index].symbol;
      case YamlNodeKind::kResource:
        return program_.resources[node.index].key;
      case YamlNodeKind::kVariable:
        return program_.variables[node.index].key;
      case YamlNodeKind::kRequirement:
        return "pulumi.requiredVersion";
    }
    return {};
  }
  SourceRange WhereOf(const YamlNodeRef& node) const {
    switch (node.kind) {
      case YamlNodeKind::kConfig:
        return program_.config[node.index].where;
      case YamlNodeKind::kResource:
        return program_.resources[node.index].where;
      case YamlNodeKind::kVariable:
        return program_.variables[node.index].where;
      case YamlNodeKind::kRequirement:
        return program_.required_version->where;
    }
    return {};
  }

  // Depth first without recursion, so that a long chain of references cannot exhaust the stack
  // (Y130, Y131).
  void Visit(const YamlNodeRef& start) {
    struct Frame {
      YamlNodeRef node;
      std::size_t next = 0;
    };
    if (state_[start] != 0) {
      return;
    }
    std::vector<Frame> stack{{start}};
    state_[start] = 1;
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const std::vector<YamlNodeRef>& needs = program_.needs[frame.node];
      if (frame.next == needs.size()) {
        state_[frame.node] = 2;
        program_.order.push_back(frame.node);
        stack.pop_back();
        continue;
      }
      const YamlNodeRef need = needs[frame.next++];
      int& state = state_[need];
      if (state == 0) {
        state = 1;
        stack.push_back({need});
      } else if (state == 1 && !has_cycle_) {
        has_cycle_ = true;
        std::string path;
        const auto from =
            std::ranges::find_if(stack, [&](const Frame& f) { return f.node == need; });
        for (auto at = from; at != stack.end(); ++at) {
          path += fmt::format("'{}' -> ", NameOf(at->node));
        }
        Problem(WhereOf(need),
                fmt::format("these depend on each other: {}'{}'", path, NameOf(need)),
                "remove one of the references");
        for (auto at = from + 1; at < stack.end(); ++at) {
          errors_->back().related.push_back(
              {fmt::format("'{}' is here", NameOf(at->node)), WhereOf(at->node)});
        }
      }
    }
  }

  // Y22: the required version is checked before everything but what its own text needs.
  void RequireFirst(std::vector<YamlNodeRef>* all) {
    const YamlNodeRef requirement{YamlNodeKind::kRequirement, 0};
    std::set<YamlNodeRef> before;
    std::vector<YamlNodeRef> open{requirement};
    program_.needs[requirement] = NeedsOf(requirement);
    while (!open.empty()) {
      const YamlNodeRef node = open.back();
      open.pop_back();
      for (const YamlNodeRef& need : program_.needs[node]) {
        if (before.insert(need).second) {
          open.push_back(need);
        }
      }
    }
    for (const YamlNodeRef& node : *all) {
      if (node.kind != YamlNodeKind::kConfig && !before.contains(node)) {
        std::vector<YamlNodeRef>& needs = program_.needs[node];
        needs.insert(needs.begin(), requirement);
      }
    }
    all->push_back(requirement);
  }

  void Order() {
    std::vector<YamlNodeRef> all;
    for (std::size_t index = 0; index < program_.config.size(); ++index) {
      all.push_back({YamlNodeKind::kConfig, index});
    }
    for (std::size_t index = 0; index < program_.resources.size(); ++index) {
      all.push_back({YamlNodeKind::kResource, index});
    }
    for (std::size_t index = 0; index < program_.variables.size(); ++index) {
      all.push_back({YamlNodeKind::kVariable, index});
    }
    for (const YamlNodeRef& node : all) {
      program_.needs[node] = NeedsOf(node);
    }
    if (program_.required_version) {
      RequireFirst(&all);
    }
    for (const YamlNodeRef& node : all) {
      Visit(node);
    }
    std::vector<YamlNodeRef> ignored;
    for (const YamlVariable& output : program_.outputs) {
      VisitAccesses(*output.value, [&](const YamlAccess& access) { Reference(access, &ignored); });
    }
    for (const YamlAccess& access : undeclared_) {
      program_.undeclared.push_back(access);
    }
  }

  YamlProgram& program_;
  std::vector<Error>* errors_;
  std::vector<YamlAccess> undeclared_;
  std::map<YamlNodeRef, int> state_;
  bool has_cycle_ = false;
};

}  // namespace

void OrderProgram(YamlProgram* program, std::vector<Error>* errors) {
  Orderer(program, errors).Run();
}

}  // namespace davit
