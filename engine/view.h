#pragma once
// Seam: what a provider reports on the parts of a resource that it manages itself (E192-E194,
// P110). Engine thread.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/events.h"

namespace davit {

/// One thing that was done to a part, with its state before and after.
struct ViewStep {
  StepOp op = StepOp::kSame;
  std::string type;
  std::string name;
  std::optional<View> old_view;
  std::optional<View> new_view;
  std::string error;        ///< not empty: it failed
  bool is_partial = false;  ///< it failed, yet the part is there
  std::vector<std::string> keys;
  std::vector<std::string> diffs;
  std::optional<std::map<std::string, PropertyDiff>> detailed;
};

/// The provider calls that take reports now, by the token that each was sent.
class ViewBoard {
 public:
  /// Takes what one report says, or says why it cannot.
  using Taker = std::function<Result<void>(std::vector<ViewStep>)>;

  /// `taker` is called until Close.
  void Open(const std::string& token, Taker taker) { takers_[token] = std::move(taker); }
  void Close(const std::string& token) { takers_.erase(token); }
  /// An unknown token, or one whose call is over, is an error.
  Result<void> Publish(const std::string& token, std::vector<ViewStep> steps) const {
    const auto at = takers_.find(token);
    if (at == takers_.end()) {
      return Fail(ErrorKind::kInvalid,
                  "no operation takes views under the token '" + token + "'",
                  "publish views while the call runs that gave the token");
    }
    return at->second(std::move(steps));
  }

 private:
  std::map<std::string, Taker> takers_;
};

}  // namespace davit
