#pragma once
// Requests of the resource monitor to goals (P71, P98-P100, P107). Pure.

#include <string>

#include "engine/base/result.h"
#include "engine/source.h"
#include "host/wire/rpc_status.h"
#include "pulumirpc/resource.pb.h"

namespace davit {

/// What decoding needs to know about the caller.
struct MonitorCaller {
  std::string root_directory;  ///< source positions are relative to it (P107)
  bool is_node = false;        ///< P100
};

/// An option that davit does not offer yet is kUnimplemented and named; other faults are kInvalid.
Result<Goal> ToGoal(const pulumirpc::RegisterResourceRequest& request, const MonitorCaller& caller);
Result<ReadGoal> ToReadGoal(const pulumirpc::ReadResourceRequest& request,
                            const MonitorCaller& caller);
Result<ReadGoal> ToExistsGoal(const pulumirpc::ExistsResourceRequest& request);
Result<InvokeGoal> ToInvokeGoal(const pulumirpc::ResourceInvokeRequest& request);
Result<CallGoal> ToCallGoal(const pulumirpc::ResourceCallRequest& request,
                            const MonitorCaller& caller);
Result<PackageDescriptor> ToPackage(const pulumirpc::RegisterPackageRequest& request);
/// Parts that requests and transforms have in common.
Result<AliasSpec> ToAlias(const pulumirpc::Alias& alias, bool has_node_rules);
/// Checksums as lower-case hex.
std::map<std::string, std::string> ToChecksums(
    const google::protobuf::Map<std::string, std::string>& checksums);
using HookBinding = pulumirpc::RegisterResourceRequest::ResourceHooksBinding;
std::map<std::string, std::vector<std::string>> ToHooks(const HookBinding& binding);
void SetHooks(const std::map<std::string, std::vector<std::string>>& hooks, HookBinding* binding);
/// `project:///<path>#<line>[,<column>]`; empty for a position that is none (P107).
std::string SourcePositionText(const pulumirpc::SourcePosition& position,
                               const std::string& root_directory);
/// Seconds of a duration in Go syntax (P82); empty text is 0.
Result<double> ParseTimeoutText(std::string_view text);

}  // namespace davit
