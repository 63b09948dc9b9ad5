#include "engine/value/property_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "engine/base/check.h"

namespace davit {
namespace {

// Reads the text form of a path from the front.
class PathParser {
 public:
  PathParser(std::string_view text, bool is_strict) : text_(text), is_strict_(is_strict) {}

  Result<std::vector<PathSegment>> Parse() {
    std::vector<PathSegment> segments;
    while (at_ < text_.size()) {
      if (text_[at_] == '.') {
        ++at_;
        if (is_strict_ && at_ < text_.size() && text_[at_] == '[') {
          return Failure("\"[\" follows \".\"");
        }
      } else if (text_[at_] == '[') {
        DAVIT_TRY(PathSegment segment, Bracket());
        segments.push_back(std::move(segment));
      } else {
        segments.push_back(Bare());
      }
    }
    return segments;
  }

 private:
  Unexpected Failure(std::string_view what) const {
    return Fail(
        ErrorKind::kInvalid,
        fmt::format("malformed property path \"{}\": {} at position {}", text_, what, at_ + 1));
  }

  PathSegment Bare() {
    const std::size_t end = std::min(text_.find_first_of(".[", at_), text_.size());
    const std::string_view key = text_.substr(at_, end - at_);
    at_ = end;
    return key == "*" ? PathSegment(Wildcard{}) : PathSegment(std::string(key));
  }

  Result<PathSegment> Bracket() {
    ++at_;
    if (at_ < text_.size() && text_[at_] == '"') {
      return Quoted();
    }
    const std::size_t end = text_.find(']', at_);
    if (end == std::string_view::npos) {
      return Failure("\"[\" is not closed");
    }
    const std::string_view inside = text_.substr(at_, end - at_);
    PathSegment segment = Wildcard{};
    if (inside != "*") {
      int index = 0;
      const auto [rest, error] =
          std::from_chars(inside.data(), inside.data() + inside.size(), index);
      if (error != std::errc() || rest != inside.data() + inside.size() || index < 0) {
        return Failure("expected an index, \"*\" or a quoted key");
      }
      segment = index;
    }
    at_ = end + 1;
    return segment;
  }

  // Only the quote itself is escaped; every other backslash is part of the key.
  Result<PathSegment> Quoted() {
    ++at_;
    std::string key;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_.substr(at_, 2) == "\\\"") {
        ++at_;
      }
      key += text_[at_++];
    }
    if (at_ == text_.size()) {
      return Failure("a quoted key is not closed");
    }
    ++at_;
    if (at_ == text_.size() || text_[at_] != ']') {
      return Failure("expected \"]\"");
    }
    ++at_;
    return PathSegment(std::move(key));
  }

  std::string_view text_;
  bool is_strict_;
  std::size_t at_ = 0;
};

bool NeedsQuotes(const std::string& key) {
  return key.empty() || key == "*" || key.find_first_of(".[]\"") != std::string::npos;
}

// A value without the secrets and outputs around it, which can be put around another value again.
class Unwrapped {
 public:
  explicit Unwrapped(const PropertyValue& value) : inner_(&value) {
    for (;;) {
      const Secret* secret = inner_->as_secret();
      const Output* output = inner_->as_output();
      if (secret == nullptr && (output == nullptr || output->element == nullptr)) {
        return;
      }
      DAVIT_CHECK(wrappers_.size() <= kMaxValueDepth, "a property value is nested too deeply");
      wrappers_.push_back(inner_);
      is_secret_ = is_secret_ || secret != nullptr || output->is_secret;
      inner_ = secret != nullptr ? &secret->Reveal() : output->element.get();
    }
  }

  const PropertyValue& inner() const { return *inner_; }
  bool is_secret() const { return is_secret_; }

  PropertyValue Around(PropertyValue value) const {
    for (auto wrapper = wrappers_.rbegin(); wrapper != wrappers_.rend(); ++wrapper) {
      if ((*wrapper)->is_secret()) {
        value = Secret(std::move(value));
      } else {
        Output output = *(*wrapper)->as_output();
        output.element = std::make_shared<const PropertyValue>(std::move(value));
        value = std::move(output);
      }
    }
    return value;
  }

 private:
  const PropertyValue* inner_;
  std::vector<const PropertyValue*> wrappers_;
  bool is_secret_ = false;
};

// The element of a container that one segment names; null when there is none.
const PropertyValue* Child(const PropertyValue& container, const PathSegment& segment) {
  if (const std::string* key = std::get_if<std::string>(&segment)) {
    const PropertyMap* map = container.as_map();
    const auto found = map != nullptr ? map->find(*key) : PropertyMap::const_iterator();
    return map != nullptr && found != map->end() ? &found->second : nullptr;
  }
  if (const int* index = std::get_if<int>(&segment)) {
    const PropertyList* list = container.as_list();
    const bool is_inside =
        list != nullptr && *index >= 0 && static_cast<std::size_t>(*index) < list->size();
    return is_inside ? &(*list)[static_cast<std::size_t>(*index)] : nullptr;
  }
  return nullptr;
}

// The container with the element replaced, or removed when absent. A map takes a new key, a list
// only places it has.
std::optional<PropertyValue> WithChild(const PropertyValue& container,
                                       const PathSegment& segment,
                                       std::optional<PropertyValue> child) {
  if (const std::string* key = std::get_if<std::string>(&segment); key && container.is_map()) {
    PropertyMap map = *container.as_map();
    if (child) {
      map.insert_or_assign(*key, *std::move(child));
    } else {
      map.erase(*key);
    }
    return map;
  }
  if (Child(container, segment) == nullptr) {
    return std::nullopt;
  }
  PropertyList list = *container.as_list();
  const auto place = list.begin() + std::get<int>(segment);
  if (child) {
    *place = *std::move(child);
  } else {
    list.erase(place);
  }
  return list;
}

using Segments = std::vector<PathSegment>::const_iterator;

// Walks to the container of the last segment and puts `value` there, or takes away what is there
// when absent.
std::optional<PropertyValue> Change(const PropertyValue& root,
                                    Segments segment,
                                    Segments end,
                                    std::optional<PropertyValue> value) {
  const Unwrapped unwrapped(root);
  const PropertyValue* child = Child(unwrapped.inner(), *segment);
  if (segment + 1 == end) {
    if (!value && child == nullptr) {
      return std::nullopt;
    }
  } else {
    if (child == nullptr) {
      return std::nullopt;
    }
    value = Change(*child, segment + 1, end, std::move(value));
    if (!value) {
      return std::nullopt;
    }
  }
  std::optional<PropertyValue> changed = WithChild(unwrapped.inner(), *segment, std::move(value));
  if (changed) {
    changed = unwrapped.Around(*std::move(changed));
  }
  return changed;
}

// Copies what is at one path of the old inputs over the new ones (E74, E75).
class Restorer {
 public:
  explicit Restorer(const PropertyPath& path) : end_(path.segments().end()) {}

  bool has_failed() const { return has_failed_; }

  // The new value with the rest of the path restored from the old one; either may be absent (null).
  // `takes_secrecy` says that the old value lies inside a secret and the new one does not.
  std::optional<PropertyValue> Restore(const PropertyValue* before,
                                       const PropertyValue* now,
                                       Segments segment,
                                       bool takes_secrecy) {
    if (segment == end_) {
      return Restored(before, takes_secrecy);
    }
    if (now == nullptr) {
      has_failed_ = has_failed_ || before != nullptr;
      return std::nullopt;
    }
    const Unwrapped unwrapped_now(*now);
    std::optional<Unwrapped> unwrapped_before;
    if (before != nullptr) {
      unwrapped_before.emplace(*before);
      takes_secrecy =
          (takes_secrecy || unwrapped_before->is_secret()) && !unwrapped_now.is_secret();
    }
    const PropertyValue* inner_before = unwrapped_before ? &unwrapped_before->inner() : nullptr;
    std::optional<PropertyValue> changed;
    if (std::holds_alternative<Wildcard>(*segment)) {
      changed = All(inner_before, unwrapped_now.inner(), segment, takes_secrecy);
    } else {
      changed = One(inner_before, unwrapped_now.inner(), segment, takes_secrecy);
    }
    return changed ? unwrapped_now.Around(*std::move(changed)) : *now;
  }

 private:
  static std::optional<PropertyValue> Restored(const PropertyValue* before, bool takes_secrecy) {
    if (before == nullptr) {
      return std::nullopt;
    }
    return takes_secrecy ? MakeSecret(*before) : *before;
  }

  // Absent: nothing is changed.
  std::optional<PropertyValue> One(const PropertyValue* before,
                                   const PropertyValue& now,
                                   Segments segment,
                                   bool takes_secrecy) {
    const bool is_key = std::holds_alternative<std::string>(*segment);
    const ValueKind needed = is_key ? ValueKind::kMap : ValueKind::kList;
    if (before != nullptr && (before->kind() == needed) != (now.kind() == needed)) {
      has_failed_ = true;
      return std::nullopt;
    }
    if (now.kind() != needed) {
      return std::nullopt;  // the location exists on neither side
    }
    const PropertyValue* child_before = before != nullptr ? Child(*before, *segment) : nullptr;
    const PropertyValue* child_now = Child(now, *segment);
    if (child_before == nullptr && child_now == nullptr) {
      return std::nullopt;
    }
    if (!is_key && (child_before == nullptr || child_now == nullptr)) {
      has_failed_ = true;  // lists never change their length
      return std::nullopt;
    }
    return WithChild(now, *segment, Restore(child_before, child_now, segment + 1, takes_secrecy));
  }

  std::optional<PropertyValue> All(const PropertyValue* before,
                                   const PropertyValue& now,
                                   Segments segment,
                                   bool takes_secrecy) {
    const bool is_container = now.is_map() || now.is_list();
    const bool was_container = before != nullptr && (before->is_map() || before->is_list());
    if (!is_container && !was_container) {
      return std::nullopt;
    }
    if (before != nullptr && before->kind() != now.kind()) {
      has_failed_ = true;
      return std::nullopt;
    }
    return now.is_map() ? AllOfMap(before, *now.as_map(), segment, takes_secrecy)
                        : AllOfList(before, *now.as_list(), segment, takes_secrecy);
  }

  PropertyValue AllOfMap(const PropertyValue* before,
                         const PropertyMap& now,
                         Segments segment,
                         bool takes_secrecy) {
    PropertyMap result;
    const auto restore = [&](const std::string& key,
                             const PropertyValue* child_before,
                             const PropertyValue* child_now) {
      std::optional<PropertyValue> child =
          Restore(child_before, child_now, segment + 1, takes_secrecy);
      if (child) {
        result.emplace(key, *std::move(child));
      }
    };
    for (const auto& [key, child] : now) {
      restore(key, before != nullptr ? Child(*before, PathSegment(key)) : nullptr, &child);
    }
    if (before != nullptr) {
      for (const auto& [key, child] : *before->as_map()) {
        if (now.find(key) == now.end()) {
          restore(key, &child, nullptr);
        }
      }
    }
    return result;
  }

  // The elements that both have are restored even when the lengths differ, which is reported all
  // the same: ignoring a field of all elements must not stop when a list grows.
  PropertyValue AllOfList(const PropertyValue* before,
                          const PropertyList& now,
                          Segments segment,
                          bool takes_secrecy) {
    static const PropertyList kNone;
    const PropertyList& olds = before != nullptr ? *before->as_list() : kNone;
    has_failed_ = has_failed_ || olds.size() != now.size();
    PropertyList result = now;
    for (std::size_t index = 0; index < std::min(olds.size(), now.size()); ++index) {
      std::optional<PropertyValue> child =
          Restore(&olds[index], &now[index], segment + 1, takes_secrecy);
      result[index] = child ? *std::move(child) : now[index];
    }
    return result;
  }

  Segments end_;
  bool has_failed_ = false;
};

}  // namespace

Result<PropertyPath> PropertyPath::Parse(std::string_view text, bool strict) {
  DAVIT_TRY(std::vector<PathSegment> segments, PathParser(text, strict).Parse());
  return PropertyPath(std::move(segments));
}

std::string PropertyPath::Text() const {
  std::string text;
  for (const PathSegment& segment : segments_) {
    if (const int* index = std::get_if<int>(&segment)) {
      text += fmt::format("[{}]", *index);
    } else if (std::holds_alternative<Wildcard>(segment)) {
      text += "[*]";
    } else if (const std::string& key = std::get<std::string>(segment); !NeedsQuotes(key)) {
      text += text.empty() ? key : "." + key;
    } else {
      text += "[\"";
      for (const char c : key) {
        text += c == '"' ? "\\\"" : std::string(1, c);
      }
      text += "\"]";
    }
  }
  return text;
}

bool PropertyPath::Contains(const PropertyPath& other) const {
  if (other.segments_.size() < segments_.size()) {
    return false;
  }
  for (std::size_t at = 0; at < segments_.size(); ++at) {
    if (!std::holds_alternative<Wildcard>(segments_[at]) && segments_[at] != other.segments_[at]) {
      return false;
    }
  }
  return true;
}

std::optional<PropertyValue> PropertyPath::Get(const PropertyValue& root) const {
  const PropertyValue* value = &root;
  bool is_secret = false;
  for (const PathSegment& segment : segments_) {
    const Unwrapped unwrapped(*value);
    is_secret = is_secret || unwrapped.is_secret();
    value = Child(unwrapped.inner(), segment);
    if (value == nullptr) {
      return std::nullopt;
    }
  }
  return is_secret ? MakeSecret(*value) : *value;
}

std::optional<PropertyValue> PropertyPath::Set(const PropertyValue& root,
                                               PropertyValue value) const {
  if (segments_.empty()) {
    return value;
  }
  return Change(root, segments_.begin(), segments_.end(), std::move(value));
}

std::optional<PropertyValue> PropertyPath::Delete(const PropertyValue& root) const {
  if (segments_.empty()) {
    return std::nullopt;
  }
  return Change(root, segments_.begin(), segments_.end(), std::nullopt);
}

PropertyMap ApplyIgnoreChanges(const PropertyMap& old_inputs,
                               const PropertyMap& new_inputs,
                               const std::vector<std::string>& paths,
                               std::vector<std::string>* failed) {
  const PropertyValue before(old_inputs);
  PropertyValue now(new_inputs);
  for (const std::string& text : paths) {
    const Result<PropertyPath> path = PropertyPath::Parse(text);
    if (!path || path->empty()) {
      continue;  // unparsable paths are skipped (E74)
    }
    Restorer restorer(*path);
    now = restorer.Restore(&before, &now, path->segments().begin(), false).value_or(now);
    if (restorer.has_failed() && failed != nullptr) {
      failed->push_back(text);
    }
  }
  return *now.as_map();
}

}  // namespace davit
