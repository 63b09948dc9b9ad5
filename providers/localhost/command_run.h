#pragma once
// One command of localhost:index:Command: from its inputs to what it printed.

#include <optional>
#include <string>

#include "engine/provider.h"
#include "providers/kit/resource_handler.h"

namespace davit::localhost {

struct CommandOutput {
  std::string stdout_text;  ///< without its last newline
  std::string stderr_text;  ///< likewise
  int exit_code = 0;
};

/// Adds failures for inputs that no command can have.
void CheckCommandInputs(const PropertyMap& plain_inputs, std::vector<CheckFailure>* failures);

/// Runs the command under `verb` (`create`, `update` or `delete`), a text for `sh -c` or a list of
/// arguments; absent when there is none. Other exit statuses than the accepted ones are errors that
/// end in the last lines of stderr; texts of secret inputs do not appear in them. The outputs of
/// the run before come as DAVIT_STDOUT and DAVIT_STDERR.
Result<std::optional<CommandOutput>> RunCommand(const std::string& verb,
                                                const PropertyMap& inputs,
                                                const PropertyMap& old_outputs,
                                                double timeout_seconds,
                                                kit::CallContext& call);

}  // namespace davit::localhost
