#pragma once
// The program text for what was imported (C21). Pure, any thread.

#include <string>
#include <vector>

#include "cli/import_order.h"

namespace davit {

struct ImportCode {
  std::string text;  ///< YAML, to be merged into the program; empty: there is nothing to write
  /// Configuration keys that stand for the secret values, which are not in the text.
  std::vector<std::string> secret_keys;
  /// Components that only a program of another language can register.
  std::vector<std::string> left_out;
};

/// `records` by entry of the order; null ones are left out. With `with_ids` the option `import` is
/// written, for what is not imported yet.
ImportCode WriteImportCode(const ImportOrder& order,
                           const std::vector<StatePtr>& records,
                           bool with_ids);

}  // namespace davit
