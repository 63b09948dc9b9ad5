#pragma once
// Update plans as files (C18, E198), both ways; the form is the reference's. One thread at a time.

#include <optional>
#include <string>
#include <string_view>

#include "engine/update_plan.h"
#include "state/codec/property_json.h"

namespace davit {

struct PlanDocument {
  UpdatePlan plan;
  /// JSON text of `config` with secrets encrypted; empty: none. For people to read; nothing is held
  /// to it.
  std::string config_json;
  std::string version;  ///< of the writer, for `manifest`
  std::optional<WallTime> time;
};

/// The bytes of a plan file. Secrets are written as `writing` says.
Result<std::string> WritePlan(const PlanDocument& document, PropertyWriting writing);

/// Reads a plan file. What is no plan, lacks a part or has a member of a resource that davit does
/// not know, and so could not hold a run to, is an error.
Result<PlanDocument> ReadPlan(std::string_view text, const PropertyReading& reading);

}  // namespace davit
