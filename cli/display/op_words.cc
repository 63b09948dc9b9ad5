#include "cli/display/op_words.h"

namespace davit {

const OpWords& WordsOf(StepOp op) {
  static const OpWords kSame{"  ", -1, "", "", "", "to leave unchanged", "unchanged"};
  static const OpWords kCreate{"+ ", 2, "create", "creating", "created", "to create", "created"};
  static const OpWords kUpdate{"~ ", 3, "update", "updating", "updated", "to update", "updated"};
  static const OpWords kDelete{"- ", 1, "delete", "deleting", "deleted", "to delete", "deleted"};
  static const OpWords kReplace{
      "+-", 13, "replace", "replacing", "replaced", "to replace", "replaced"};
  static const OpWords kCreateReplacement{"++",
                                          10,
                                          "create replacement",
                                          "creating replacement",
                                          "created replacement",
                                          "to create replacement",
                                          "created replacement"};
  static const OpWords kDeleteReplaced{"--",
                                       9,
                                       "delete original",
                                       "deleting original",
                                       "deleted original",
                                       "to delete original",
                                       "deleted original"};
  static const OpWords kRead{"> ", 14, "read", "reading", "read", "to read", "read"};
  static const OpWords kReadReplacement{">>",
                                        13,
                                        "read for replacement",
                                        "reading for replacement",
                                        "read for replacement",
                                        "to read for replacement",
                                        "read for replacement"};
  static const OpWords kRefresh{
      "~ ", 3, "refresh", "refreshing", "refresh", "to refresh", "refreshed"};
  static const OpWords kDiscard{
      "< ", 1, "discard", "discarding", "discarded", "to discard", "discarded"};
  static const OpWords kDiscardReplaced{"<<",
                                        1,
                                        "discard original",
                                        "discarding original",
                                        "discarded original",
                                        "to discard original",
                                        "discarded original"};
  static const OpWords kRemovePending{"~ ", -1, "", "", "", "", ""};
  static const OpWords kImport{"= ", 2, "import", "importing", "imported", "to import", "imported"};
  static const OpWords kImportReplacement{"=>",
                                          13,
                                          "import replacement",
                                          "importing replacement",
                                          "imported replacement",
                                          "to import replacement",
                                          "imported replacement"};
  switch (op) {
    case StepOp::kSame:
      return kSame;
    case StepOp::kCreate:
      return kCreate;
    case StepOp::kUpdate:
      return kUpdate;
    case StepOp::kDelete:
      return kDelete;
    case StepOp::kReplace:
      return kReplace;
    case StepOp::kCreateReplacement:
      return kCreateReplacement;
    case StepOp::kDeleteReplaced:
      return kDeleteReplaced;
    case StepOp::kRead:
      return kRead;
    case StepOp::kReadReplacement:
      return kReadReplacement;
    case StepOp::kRefresh:
      return kRefresh;
    case StepOp::kDiscard:
      return kDiscard;
    case StepOp::kDiscardReplaced:
      return kDiscardReplaced;
    case StepOp::kRemovePendingReplace:
      return kRemovePending;
    case StepOp::kImport:
      return kImport;
    case StepOp::kImportReplacement:
      return kImportReplacement;
    case StepOp::kExtendParameterize:
      break;  // internal, never shown
  }
  return kSame;
}

const std::vector<StepOp>& OpsInOrder() {
  static const std::vector<StepOp> kOps = {StepOp::kSame,
                                           StepOp::kCreate,
                                           StepOp::kUpdate,
                                           StepOp::kDelete,
                                           StepOp::kReplace,
                                           StepOp::kCreateReplacement,
                                           StepOp::kDeleteReplaced,
                                           StepOp::kRead,
                                           StepOp::kReadReplacement,
                                           StepOp::kRefresh,
                                           StepOp::kDiscard,
                                           StepOp::kDiscardReplaced,
                                           StepOp::kRemovePendingReplace,
                                           StepOp::kImport,
                                           StepOp::kImportReplacement};
  return kOps;
}

}  // namespace davit
