#pragma once
// What `davit import` adds to a run: reading what it is asked for, and the code afterwards (C20,
// C21). Used by deploy.cc.

#include <memory>

#include "cli/import_order.h"
#include "cli/session.h"

namespace davit {

/// From the words of the command line, or the file that they name. `manager` opens secrets in it
/// and may be null.
Result<ImportOrder> ReadImportOrder(const Context& context,
                                    const StackSession& session,
                                    std::shared_ptr<SecretsManager> manager);

/// Prints the code for the imported records, or writes it to `--out`.
Result<void> ShowImportCode(const Context& context,
                            const ImportOrder& order,
                            const std::vector<StatePtr>& records);

}  // namespace davit
