#include "engine/value/value_diff.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"

namespace davit {
namespace {

// Compares plain values and keeps the path to where it is.
class Differ {
 public:
  std::vector<ValueChange> Take() { return std::move(changes_); }

  void Maps(const PropertyMap& before, const PropertyMap& after) {
    auto left = before.begin();
    auto right = after.begin();
    while (left != before.end() || right != after.end()) {
      const bool is_left =
          right == after.end() || (left != before.end() && left->first <= right->first);
      const bool is_right =
          left == before.end() || (right != after.end() && right->first <= left->first);
      path_.emplace_back(is_left ? left->first : right->first);
      Members(is_left ? &left->second : nullptr, is_right ? &right->second : nullptr);
      path_.pop_back();
      left = is_left ? std::next(left) : left;
      right = is_right ? std::next(right) : right;
    }
  }

 private:
  void Members(const PropertyValue* before, const PropertyValue* after) {
    const bool was_there = before != nullptr && !before->is_null();
    const bool is_there = after != nullptr && !after->is_null();
    if (was_there && is_there) {
      Values(*before, *after);
    } else if (was_there || is_there) {
      Report(is_there ? ChangeKind::kAdd : ChangeKind::kDelete);
    }
  }

  void Lists(const PropertyList& before, const PropertyList& after) {
    for (std::size_t index = 0; index < std::max(before.size(), after.size()); ++index) {
      path_.emplace_back(static_cast<int>(index));
      if (index >= before.size()) {
        Report(ChangeKind::kAdd);
      } else if (index >= after.size()) {
        Report(ChangeKind::kDelete);
      } else {
        Values(before[index], after[index]);
      }
      path_.pop_back();
    }
  }

  void Values(const PropertyValue& before, const PropertyValue& after) {
    DAVIT_CHECK(path_.size() <= kMaxValueDepth, "a property value is nested too deeply");
    if (before.is_map() && after.is_map()) {
      Maps(*before.as_map(), *after.as_map());
    } else if (before.is_list() && after.is_list()) {
      Lists(*before.as_list(), *after.as_list());
    } else if (!(before == after)) {
      Report(ChangeKind::kUpdate);
    }
  }

  void Report(ChangeKind kind) { changes_.push_back({PropertyPath(path_), kind}); }

  std::vector<PathSegment> path_;
  std::vector<ValueChange> changes_;
};

}  // namespace

std::vector<ValueChange> DiffValues(const PropertyMap& before, const PropertyMap& after) {
  Differ differ;
  differ.Maps(Plain(before), Plain(after));
  return differ.Take();
}

std::vector<std::string> ChangedKeys(const PropertyMap& before, const PropertyMap& after) {
  std::vector<std::string> keys;
  for (const ValueChange& change : DiffValues(before, after)) {
    const std::string& key = std::get<std::string>(change.path.segments().front());
    if (keys.empty() || keys.back() != key) {
      keys.push_back(key);
    }
  }
  return keys;
}

}  // namespace davit
