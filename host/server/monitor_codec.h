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
Result<InvokeGoal> ToInvokeGoal(const pulumirpc::ResourceInvokeRequest& request);
Result<PackageDescriptor> ToPackage(const pulumirpc::RegisterPackageRequest& request);
/// `project:///<path>#<line>[,<column>]`; empty for a position that is none (P107).
std::string SourcePositionText(const pulumirpc::SourcePosition& position,
                               const std::string& root_directory);
/// Seconds of a duration in Go syntax (P82); empty text is 0.
Result<double> ParseTimeoutText(std::string_view text);

}  // namespace davit
