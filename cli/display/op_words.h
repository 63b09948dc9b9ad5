#pragma once
// Glyphs, colours and words of the operations (C91, C94). Pure.

#include <string_view>
#include <vector>

#include "engine/events.h"

namespace davit {

struct OpWords {
  std::string_view glyph;    ///< two characters
  int color;                 ///< -1: none
  std::string_view preview;  ///< `create replacement`
  std::string_view
      running;  ///< `creating replacement`; also the word of `**creating replacement failed**`
  std::string_view done;          ///< `created replacement`
  std::string_view to_do;         ///< in the summary of a preview: `to create`
  std::string_view summary_done;  ///< in the summary of a run: `created`
};

const OpWords& WordsOf(StepOp op);
/// Every operation, in the order of C91.
const std::vector<StepOp>& OpsInOrder();

}  // namespace davit
