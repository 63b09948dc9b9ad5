#include "cli/display/value_print.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/display/decoded_text.h"
#include "cli/display/line_diff.h"
#include "cli/json_writer.h"
#include "engine/base/base64.h"

namespace davit {
namespace {

constexpr std::size_t kMaxLines = 3;
constexpr std::size_t kMaxLineLength = 150;
constexpr int kAddColor = 2;
constexpr int kDeleteColor = 1;
constexpr int kUpdateColor = 3;

int ColorOf(ValueMark mark) {
  return mark == ValueMark::kAdd      ? kAddColor
         : mark == ValueMark::kDelete ? kDeleteColor
                                      : kUpdateColor;
}

// What the display shows instead of the wrapper: outputs are what they hold; secrets stay for the
// mask.
const PropertyValue& Inner(const PropertyValue& value, bool show_secrets) {
  static const PropertyValue kUnknown{Unknown{}};
  if (const Output* output = value.as_output()) {
    if (output->is_secret && !show_secrets) {
      return value;
    }
    return output->element ? Inner(*output->element, show_secrets) : kUnknown;
  }
  if (const Secret* secret = value.as_secret(); secret != nullptr && show_secrets) {
    return Inner(secret->Reveal(), show_secrets);
  }
  return value;
}

bool IsMasked(const PropertyValue& value) {
  const Output* output = value.as_output();
  return value.is_secret() || (output != nullptr && output->is_secret);
}

class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}

  std::string Take() { return std::move(out_); }

  void Member(const std::string& title, const PropertyValue& value, int indent, ValueMark mark) {
    BeginLine(indent, mark);
    out_ += title;
    if (options_.hidden.contains(title.substr(0, title.find_last_not_of(": ") + 1))) {
      out_ += "(hidden)\n";
      return;
    }
    Value(value, indent, mark);
    out_ += '\n';
  }

  void Map(const PropertyMap& map, int indent, ValueMark mark) {
    const std::size_t width = NameWidth(map);
    for (const auto& [name, value] : map) {
      if (!IsHiddenName(name) && !IsEmptyForDisplay(value)) {
        Member(fmt::format("{:<{}}: ", name, width), value, indent, mark);
      }
    }
  }

  void MemberDiff(const std::string& title,
                  const PropertyValue* before,
                  const PropertyValue* after,
                  int indent,
                  int extra) {
    // C114: what is empty counts as not there.
    const bool had_value = before != nullptr && !IsEmptyForDisplay(*before);
    const bool has_value = after != nullptr && !IsEmptyForDisplay(*after);
    if (!had_value && !has_value) {
      return;
    }
    if (!had_value) {
      Member(title, *after, indent, ValueMark::kAdd);
    } else if (!has_value) {
      Member(title, *before, indent, ValueMark::kDelete);
    } else if (SameForDisplay(*before, *after)) {
      Member(title, *after, indent, ValueMark::kNone);
    } else {
      Changed(title,
              Inner(*before, options_.show_secrets),
              Inner(*after, options_.show_secrets),
              indent,
              extra);
    }
  }

  void MapDiff(const PropertyMap& before, const PropertyMap& after, int indent) {
    const std::size_t width = std::max(NameWidth(before), NameWidth(after));
    PropertyMap all = after;
    all.insert(before.begin(), before.end());
    for (const auto& [name, value] : all) {
      const auto old_at = before.find(name);
      const auto new_at = after.find(name);
      const PropertyValue* old_value = old_at == before.end() ? nullptr : &old_at->second;
      const PropertyValue* new_value = new_at == after.end() ? nullptr : &new_at->second;
      const bool is_same =
          old_value != nullptr && new_value != nullptr && SameForDisplay(*old_value, *new_value);
      if (!IsHiddenName(name) && (options_.show_sames || !is_same)) {
        MemberDiff(fmt::format("{:<{}}: ", name, width), old_value, new_value, indent, 0);
      }
    }
  }

 private:
  // Blanks with the mark in the last two columns.
  void BeginLine(int indent, ValueMark mark) {
    const std::size_t columns = static_cast<std::size_t>(indent) * 4;
    if (mark == ValueMark::kNone || columns < 2) {
      out_.append(columns, ' ');
      return;
    }
    out_.append(columns - 2, ' ');
    const char* glyph = mark == ValueMark::kAdd ? "+ " : mark == ValueMark::kDelete ? "- " : "~ ";
    out_ += options_.style.Fg(ColorOf(mark), glyph);
  }

  void Value(const PropertyValue& shown, int indent, ValueMark mark) {
    if (IsMasked(shown) && !options_.show_secrets) {
      out_ += "[secret]";
      return;
    }
    const PropertyValue& value = Inner(shown, options_.show_secrets);
    if (const PropertyList* list = value.as_list()) {
      List(*list, indent, mark);
    } else if (const PropertyMap* map = value.as_map()) {
      Object(*map, indent, mark);
    } else if (const std::string* text = value.as_string()) {
      String(*text, indent, mark);
    } else if (const Asset* asset = value.as_asset()) {
      AssetText(*asset, indent);
    } else if (const Archive* archive = value.as_archive()) {
      ArchiveText(*archive, indent, mark);
    } else {
      out_ += Scalar(value);
    }
  }

  std::string Scalar(const PropertyValue& value) const {
    if (IsMasked(value)) {
      return "[secret]";
    }
    if (value.is_null()) {
      return "<null>";
    }
    if (value.is_unknown()) {
      return "[unknown]";
    }
    if (const double* number = value.as_number()) {
      return NumberText(*number);
    }
    if (const std::string* text = value.as_string()) {
      return Quoted(*text);
    }
    if (const ResourceReference* reference = value.as_reference()) {
      return JsonString(reference->urn);
    }
    return DebugText(value);
  }

  std::string Quoted(const std::string& text) const {
    return IsUtf8(text) ? JsonString(options_.show_full_output ? text : Shortened(text))
                        : fmt::format("b\"{}\"", EncodeBase64(text));
  }

  // C96
  static std::string Shortened(const std::string& text) {
    std::string out;
    std::size_t at = 0;
    for (std::size_t line = 0; at <= text.size(); ++line) {
      if (line == kMaxLines) {
        return out + "...";
      }
      const std::size_t end = text.find('\n', at);
      const std::string piece = text.substr(at, end == std::string::npos ? end : end - at);
      out +=
          DisplayWidth(piece) > kMaxLineLength ? CutToWidth(piece, kMaxLineLength) + "..." : piece;
      if (end == std::string::npos) {
        break;
      }
      out += '\n';
      at = end + 1;
      if (at == text.size()) {
        break;
      }
    }
    return out;
  }

  void String(const std::string& text, int indent, ValueMark mark) {
    const std::optional<DecodedText> decoded = IsUtf8(text) ? DecodeText(text) : std::nullopt;
    if (!decoded) {
      out_ += Quoted(text);
      return;
    }
    out_ += fmt::format("({}) ", decoded->format);
    Value(decoded->value, indent, mark);
    out_ += '\n';  // an empty line follows a text that is shown whole
  }

  void List(const PropertyList& list, int indent, ValueMark mark) {
    if (list.empty()) {
      out_ += "[]";
      return;
    }
    out_ += "[\n";
    for (std::size_t i = 0; i < list.size(); ++i) {
      BeginLine(indent, mark);
      out_ += fmt::format("    [{}]: ", i);
      Value(list[i], indent + 1, mark);
      out_ += '\n';
    }
    BeginLine(indent, ValueMark::kNone);
    out_ += ']';
  }

  void Object(const PropertyMap& map, int indent, ValueMark mark) {
    if (map.empty()) {
      out_ += "{}";
      return;
    }
    out_ += "{\n";
    Map(map, indent + 1, mark);
    BeginLine(indent, ValueMark::kNone);
    out_ += '}';
  }

  static std::string ShortHash(const std::string& hash) { return hash.substr(0, 7); }

  void AssetText(const Asset& asset, int indent) {
    switch (asset.source) {
      case Asset::Source::kText:
        out_ += fmt::format("asset(text:{}) {{\n", ShortHash(asset.hash));
        BeginLine(indent + 1, ValueMark::kNone);
        out_ += "<contents elided>\n";
        BeginLine(indent, ValueMark::kNone);
        out_ += '}';
        return;
      case Asset::Source::kPath:
        out_ += fmt::format("asset(file:{}) {{ {} }}", ShortHash(asset.hash), asset.content);
        return;
      case Asset::Source::kUri:
        out_ += fmt::format("asset(uri:{}) {{ {} }}", ShortHash(asset.hash), asset.content);
        return;
      case Asset::Source::kNone:
        out_ += fmt::format("asset({})", ShortHash(asset.hash));
        return;
    }
  }

  void ArchiveText(const Archive& archive, int indent, ValueMark mark) {
    switch (archive.source) {
      case Archive::Source::kAssets:
        out_ += fmt::format("archive(assets:{}) {{\n", ShortHash(archive.hash));
        for (const auto& [name, value] : archive.assets ? *archive.assets : PropertyMap()) {
          Member(JsonString(name) + ": ", value, indent + 1, mark);
        }
        BeginLine(indent, ValueMark::kNone);
        out_ += '}';
        return;
      case Archive::Source::kPath:
        out_ += fmt::format("archive(file:{}) {{ {} }}", ShortHash(archive.hash), archive.location);
        return;
      case Archive::Source::kUri:
        out_ += fmt::format("archive(uri:{}) {{ {} }}", ShortHash(archive.hash), archive.location);
        return;
      case Archive::Source::kNone:
        out_ += fmt::format("archive({})", ShortHash(archive.hash));
        return;
    }
  }

  static bool IsPrimitive(const PropertyValue& value) {
    return value.as_list() == nullptr && value.as_map() == nullptr && value.as_asset() == nullptr &&
           value.as_archive() == nullptr;
  }

  // Two values that differ. In a list, what is inside stands `extra` levels deeper.
  void Changed(const std::string& title,
               const PropertyValue& before,
               const PropertyValue& after,
               int indent,
               int extra) {
    const PropertyMap* old_map = before.as_map();
    const PropertyMap* new_map = after.as_map();
    const PropertyList* old_list = before.as_list();
    const PropertyList* new_list = after.as_list();
    if ((old_map != nullptr && new_map != nullptr) ||
        (old_list != nullptr && new_list != nullptr)) {
      BeginLine(indent, ValueMark::kUpdate);
      out_ += title;
      Containers(before, after, indent + extra);
      out_ += '\n';
      return;
    }
    if (before.as_string() != nullptr && after.as_string() != nullptr &&
        ChangedTexts(title, *before.as_string(), *after.as_string(), indent, extra)) {
      return;
    }
    if (IsPrimitive(before) && IsPrimitive(after)) {
      BeginLine(indent, ValueMark::kUpdate);
      out_ += fmt::format("{}{} => {}\n", title, Scalar(before), Scalar(after));
      return;
    }
    Member(title, before, indent, ValueMark::kDelete);
    Member(title, after, indent, ValueMark::kAdd);
  }

  void Containers(const PropertyValue& before, const PropertyValue& after, int indent) {
    const PropertyMap* old_map = before.as_map();
    const bool is_map = old_map != nullptr;
    out_ += is_map ? "{\n" : "[\n";
    if (is_map) {
      NestedMapDiff(*old_map, *after.as_map(), indent + 1);
    } else {
      ListDiff(*before.as_list(), *after.as_list(), indent + 1);
    }
    BeginLine(indent, ValueMark::kNone);
    out_ += is_map ? '}' : ']';
  }

  void NestedMapDiff(const PropertyMap& before, const PropertyMap& after, int indent) {
    const std::size_t width = std::max(NameWidth(before), NameWidth(after));
    PropertyMap all = after;
    all.insert(before.begin(), before.end());
    for (const auto& [name, value] : all) {
      if (IsHiddenName(name)) {
        continue;
      }
      const auto old_at = before.find(name);
      const auto new_at = after.find(name);
      MemberDiff(fmt::format("{:<{}}: ", name, width),
                 old_at == before.end() ? nullptr : &old_at->second,
                 new_at == after.end() ? nullptr : &new_at->second,
                 indent,
                 0);
    }
  }

  void ListDiff(const PropertyList& before, const PropertyList& after, int indent) {
    for (std::size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
      const std::string title = fmt::format("[{}]: ", i);
      if (i >= before.size()) {
        Member(title, after[i], indent, ValueMark::kAdd);
      } else if (i >= after.size()) {
        Member(title, before[i], indent, ValueMark::kDelete);
      } else if (SameForDisplay(before[i], after[i])) {
        Member(title, after[i], indent, ValueMark::kNone);
      } else {
        Changed(title,
                Inner(before[i], options_.show_secrets),
                Inner(after[i], options_.show_secrets),
                indent,
                1);
      }
    }
  }

  // False when the texts are to be shown as OLD => NEW.
  bool ChangedTexts(const std::string& title,
                    const std::string& before,
                    const std::string& after,
                    int indent,
                    int extra) {
    const std::optional<DecodedText> old_value = DecodeText(before);
    const std::optional<DecodedText> new_value = DecodeText(after);
    const bool comparable = old_value && new_value && old_value->format == new_value->format &&
                            old_value->value.kind() == new_value->value.kind() &&
                            !(old_value->value == new_value->value);
    if (comparable) {
      BeginLine(indent, ValueMark::kUpdate);
      out_ += fmt::format("{}({}) ", title, new_value->format);
      Containers(old_value->value, new_value->value, indent + extra);
      out_ += '\n';
      return true;
    }
    const bool has_lines =
        before.find('\n') != std::string::npos || after.find('\n') != std::string::npos;
    if (!has_lines || !IsUtf8(before) || !IsUtf8(after)) {
      return false;
    }
    BeginLine(indent, ValueMark::kUpdate);
    out_ += title + "\n";
    for (const DiffLine& line : DiffLines(before, after, 2)) {
      BeginLine(indent + 1,
                line.mark == '+'   ? ValueMark::kAdd
                : line.mark == '-' ? ValueMark::kDelete
                                   : ValueMark::kNone);
      out_ += line.text + "\n";
    }
    return true;
  }

  const PrintOptions& options_;
  std::string out_;
};

}  // namespace

bool SameForDisplay(const PropertyValue& a, const PropertyValue& b) {
  return WithoutOutputs(a) == WithoutOutputs(b);
}

bool IsEmptyForDisplay(const PropertyValue& value) {
  const std::string* text = value.as_string();
  const PropertyList* list = value.as_list();
  const PropertyMap* map = value.as_map();
  return value.is_null() || (text != nullptr && text->empty()) ||
         (list != nullptr && list->empty()) || (map != nullptr && map->empty());
}

bool IsHiddenName(const std::string& name) {
  return name.compare(0, 2, "__") == 0;
}

std::size_t NameWidth(const PropertyMap& map) {
  std::size_t width = 0;
  for (const auto& [name, value] : map) {
    width = IsHiddenName(name) ? width : std::max(width, name.size());
  }
  return width;
}

std::string PrintMap(const PropertyMap& map,
                     int indent,
                     ValueMark mark,
                     const PrintOptions& options) {
  Printer printer(options);
  printer.Map(map, indent, mark);
  return printer.Take();
}

std::string PrintMapDiff(const PropertyMap& before,
                         const PropertyMap& after,
                         int indent,
                         const PrintOptions& options) {
  Printer printer(options);
  printer.MapDiff(before, after, indent);
  return printer.Take();
}

std::string PrintMember(const std::string& name,
                        const PropertyValue& value,
                        std::size_t width,
                        int indent,
                        ValueMark mark,
                        const PrintOptions& options) {
  Printer printer(options);
  printer.Member(fmt::format("{:<{}}: ", name, width), value, indent, mark);
  return printer.Take();
}

std::string PrintMemberDiff(const std::string& name,
                            const PropertyValue* before,
                            const PropertyValue* after,
                            std::size_t width,
                            int indent,
                            const PrintOptions& options) {
  if (before != nullptr && after != nullptr && SameForDisplay(*before, *after) &&
      !options.show_sames) {
    return {};
  }
  Printer printer(options);
  printer.MemberDiff(fmt::format("{:<{}}: ", name, width), before, after, indent, 0);
  return printer.Take();
}

}  // namespace davit
