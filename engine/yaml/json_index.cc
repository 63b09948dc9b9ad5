#include "engine/yaml/json_index.h"

#include <cstddef>

namespace davit {
namespace {

class JsonScanner {
 public:
  explicit JsonScanner(std::string_view text) : text_(text) {}

  bool Object(const std::function<void(std::string, std::string_view)>& visit) {
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
      if (!Skip()) {
        return false;
      }
      visit(std::move(key), text_.substr(begin, at_ - begin));
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

  // Behind the closing quote of the string that begins here.
  bool SkipString() {
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == '"') {
        ++at_;
        return true;
      }
    }
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
      depth += c == '{' || c == '[' ? 1 : 0;
      ++at_;
      if ((c == '}' || c == ']') && --depth == 0) {
        return true;
      }
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

bool VisitJsonMembers(std::string_view json,
                      const std::function<void(std::string key, std::string_view value)>& visit) {
  return JsonScanner(json).Object(visit);
}

}  // namespace davit
