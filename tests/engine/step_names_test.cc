// Names that files, events and plugins carry.
#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <vector>

#include "engine/events.h"
#include "engine/model/snapshot.h"

namespace davit {
namespace {

const std::vector<StepOp> kAll = {StepOp::kSame,
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

}  // namespace

TEST_CASE("[E6] steps are called as everywhere") {
  std::vector<std::string> names;
  for (const StepOp op : kAll) {
    names.emplace_back(StepOpName(op));
  }
  CHECK(names == std::vector<std::string>{"same",
                                          "create",
                                          "update",
                                          "delete",
                                          "replace",
                                          "create-replacement",
                                          "delete-replaced",
                                          "read",
                                          "read-replacement",
                                          "refresh",
                                          "discard",
                                          "discard-replaced",
                                          "remove-pending-replace",
                                          "import",
                                          "import-replacement"});
}

TEST_CASE("[E7] halves of replacements, refreshes and forgotten records are not logical") {
  std::set<std::string> others;
  for (const StepOp op : kAll) {
    if (!IsLogical(op)) {
      others.emplace(StepOpName(op));
    }
  }
  CHECK(others == std::set<std::string>{"create-replacement",
                                        "delete-replaced",
                                        "discard-replaced",
                                        "import-replacement",
                                        "read-replacement",
                                        "refresh",
                                        "remove-pending-replace"});
}

TEST_CASE("[E4] [E202] pending operations are called as in files") {
  for (const char* name : {"creating", "updating", "deleting", "reading", "importing"}) {
    const std::optional<OperationType> type = ParseOperationType(name);
    REQUIRE(type);
    CHECK(OperationTypeName(*type) == name);
  }
  CHECK_FALSE(ParseOperationType("replacing"));
}

}  // namespace davit
