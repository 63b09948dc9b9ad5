#pragma once
// Exit statuses (C77). A recording wins where it differs from the list: wrong flags and
// configuration are 1.

namespace davit {

enum ExitCode {
  kExitOk = 0,
  kExitFailed = 1,
  kExitNeedsApproval = 2,  ///< `up` or `destroy` without a terminal and without an approving flag
  kExitNoStack = 6,
  kExitUnexpectedChanges = 7,
  kExitCancelled = 8,
  kExitBug = 255,
};

}  // namespace davit
