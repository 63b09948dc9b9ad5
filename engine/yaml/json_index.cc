#include "engine/yaml/json_index.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace davit {
namespace {

class JsonScanner {
 public:
  JsonScanner(std::string_view text, std::initializer_list<std::string_view> sections)
      : text_(text), sections_(sections) {}

  bool Object(std::string_view section, const JsonMemberVisitor& visit) {
    if (!Take('{')) {
      return false;
    }
    if (Take('}')) {
      return true;
    }
    do {
      std::string key;
      if (!Key(&key) || !Take(':')) {
        return false;
      }
      Blanks();
      const std::size_t begin = at_;
      const bool is_section = section.empty() && begin < text_.size() && text_[begin] == '{' &&
                              std::ranges::find(sections_, key) != sections_.end();
      if (is_section) {
        if (!Object(key, visit)) {
          return false;
        }
        continue;
      }
      if (!Skip()) {
        return false;
      }
      visit(section, std::move(key), text_.substr(begin, at_ - begin));
    } while (Take(','));
    return Take('}');
  }

 private:
  void Blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' ||
                                  text_[at_] == '\r')) {
      ++at_;
    }
  }

  bool Take(char wanted) {
    Blanks();
    if (at_ >= text_.size() || text_[at_] != wanted) {
      return false;
    }
    ++at_;
    return true;
  }

  // Behind the closing quote of the string that begins here. Most of a schema is prose, which
  // memchr passes over many bytes at a time.
  bool SkipString() {
    const std::size_t begin = ++at_;
    while (at_ < text_.size()) {
      const void* quote = std::memchr(text_.data() + at_, '"', text_.size() - at_);
      if (quote == nullptr) {
        break;
      }
      const std::size_t end =
          static_cast<std::size_t>(static_cast<const char*>(quote) - text_.data());
      at_ = end + 1;
      std::size_t escapes = 0;
      while (end - escapes > begin && text_[end - escapes - 1] == '\\') {
        ++escapes;
      }
      if (escapes % 2 == 0) {
        return true;
      }
    }
    at_ = text_.size();
    return false;
  }

  // Escapes do not occur in tokens and names of properties; one is kept as it is written.
  bool Key(std::string* key) {
    Blanks();
    const std::size_t begin = at_;
    if (at_ >= text_.size() || text_[at_] != '"' || !SkipString()) {
      return false;
    }
    *key = text_.substr(begin + 1, at_ - begin - 2);
    return true;
  }

  bool Skip() {
    std::size_t depth = 0;
    const std::size_t begin = at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        if (!SkipString()) {
          return false;
        }
        if (depth == 0) {
          return true;
        }
        continue;
      }
      if (depth == 0 && (c == ',' || c == '}' || c == ']')) {
        return at_ > begin;  // behind a number or a word
      }
      ++at_;
      if (c == '{' || c == '[') {
        ++depth;
      } else if ((c == '}' || c == ']') && --depth == 0) {
        return true;
      }
    }
    return false;
  }

  std::string_view text_;
  std::initializer_list<std::string_view> sections_;
  std::size_t at_ = 0;
};

}  // namespace

bool VisitJsonMembers(std::string_view json,
                      std::initializer_list<std::string_view> sections,
                      const JsonMemberVisitor& visit) {
  return JsonScanner(json, sections).Object("", visit);
}

}  // namespace davit
