#include "engine/events.h"

namespace davit {

std::string_view StepOpName(StepOp op) {
  switch (op) {
    case StepOp::kSame:
      return "same";
    case StepOp::kCreate:
      return "create";
    case StepOp::kUpdate:
      return "update";
    case StepOp::kDelete:
      return "delete";
    case StepOp::kReplace:
      return "replace";
    case StepOp::kCreateReplacement:
      return "create-replacement";
    case StepOp::kDeleteReplaced:
      return "delete-replaced";
    case StepOp::kRead:
      return "read";
    case StepOp::kReadReplacement:
      return "read-replacement";
    case StepOp::kRefresh:
      return "refresh";
    case StepOp::kDiscard:
      return "discard";
    case StepOp::kDiscardReplaced:
      return "discard-replaced";
    case StepOp::kRemovePendingReplace:
      return "remove-pending-replace";
    case StepOp::kImport:
      return "import";
    case StepOp::kImportReplacement:
      return "import-replacement";
    case StepOp::kExtendParameterize:
      return "extend-parameterize";
  }
  return "same";
}

std::string_view EnforcementLevelName(EnforcementLevel level) {
  switch (level) {
    case EnforcementLevel::kAdvisory:
      return "advisory";
    case EnforcementLevel::kMandatory:
      return "mandatory";
    case EnforcementLevel::kDisabled:
      return "disabled";
    case EnforcementLevel::kRemediate:
      return "remediate";
  }
  return "advisory";
}

std::optional<EnforcementLevel> ParseEnforcementLevel(std::string_view name) {
  for (const EnforcementLevel level : {EnforcementLevel::kAdvisory,
                                       EnforcementLevel::kMandatory,
                                       EnforcementLevel::kDisabled,
                                       EnforcementLevel::kRemediate}) {
    if (EnforcementLevelName(level) == name) {
      return level;
    }
  }
  return std::nullopt;
}

bool IsLogical(StepOp op) {
  switch (op) {
    case StepOp::kSame:
    case StepOp::kCreate:
    case StepOp::kUpdate:
    case StepOp::kDelete:
    case StepOp::kReplace:
    case StepOp::kRead:
    case StepOp::kDiscard:
    case StepOp::kImport:
      return true;
    case StepOp::kCreateReplacement:
    case StepOp::kDeleteReplaced:
    case StepOp::kReadReplacement:
    case StepOp::kRefresh:
    case StepOp::kDiscardReplaced:
    case StepOp::kRemovePendingReplace:
    case StepOp::kImportReplacement:
    case StepOp::kExtendParameterize:
      return false;
  }
  return false;
}

std::string_view DiffKindName(DiffKind kind) {
  switch (kind) {
    case DiffKind::kAdd:
      return "add";
    case DiffKind::kAddReplace:
      return "add-replace";
    case DiffKind::kDelete:
      return "delete";
    case DiffKind::kDeleteReplace:
      return "delete-replace";
    case DiffKind::kUpdate:
      return "update";
    case DiffKind::kUpdateReplace:
      return "update-replace";
  }
  return "update";
}

}  // namespace davit
