#include "cli/display/findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/json_writer.h"

namespace davit {
namespace {

std::string LineAt(const std::string& text, int line) {
  std::size_t begin = 0;
  for (; line > 1; --line) {
    begin = text.find('\n', begin);
    if (begin == std::string::npos) {
      return {};
    }
    ++begin;
  }
  return text.substr(begin, text.find('\n', begin) - begin);
}

int WidthOf(const std::string& text) {
  return static_cast<int>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

void AppendExcerpt(const SourceRange& where, const SourceText& source, std::string* out) {
  const std::optional<std::string> text = source(where.file);
  const std::string line = text ? LineAt(*text, where.line) : std::string();
  if (line.empty() || where.column < 1) {
    return;
  }
  const bool is_on_one_line = where.end_line == where.line && where.end_column > where.column;
  const int end = is_on_one_line ? where.end_column : where.column + 1;
  const int width = std::clamp(end - where.column, 1, std::max(1, WidthOf(line) - where.column + 1));
  const std::string number = std::to_string(where.line);
  // Tabs before the place stay tabs, so that the caret stands below it.
  std::string indent;
  for (const char c : line) {
    if (static_cast<int>(indent.size()) + 1 >= where.column) {
      break;
    }
    if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {
      indent += c == '\t' ? '\t' : ' ';
    }
  }
  *out += fmt::format("  {} | {}\n  {} | {}{}\n",
                      number,
                      line,
                      std::string(number.size(), ' '),
                      indent,
                      std::string(static_cast<std::size_t>(width), '^'));
}

void AppendFinding(const Error& finding,
                   const char* severity,
                   const SourceText& source,
                   std::string* out) {
  if (finding.where) {
    *out += finding.where->file;
    if (finding.where->line > 0) {
      *out += fmt::format(":{}:{}", finding.where->line, finding.where->column);
    }
    *out += ": ";
  }
  *out += fmt::format("{}: {}\n", severity, finding.message);
  if (finding.where && finding.where->line > 0) {
    AppendExcerpt(*finding.where, source, out);
  }
  for (const RelatedPlace& place : finding.related) {
    *out += fmt::format("  {}:{}:{}: {}\n",
                        place.where.file,
                        place.where.line,
                        place.where.column,
                        place.what);
    AppendExcerpt(place.where, source, out);
  }
  if (!finding.advice.empty()) {
    *out += fmt::format("  {}\n", finding.advice);
  }
}

std::string Counted(std::size_t count, const char* word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

void WritePlace(const SourceRange& where, JsonWriter* json) {
  json->Key("file").String(where.file);
  for (const auto& [key, value] : {std::pair("line", where.line),
                                   std::pair("column", where.column),
                                   std::pair("endLine", where.end_line),
                                   std::pair("endColumn", where.end_column)}) {
    if (value > 0) {
      json->Key(key).Integer(value);
    }
  }
}

void WriteJson(const Error& finding, const char* severity, JsonWriter* json) {
  json->BeginObject();
  json->Key("severity").String(severity);
  json->Key("message").String(finding.message);
  if (!finding.advice.empty()) {
    json->Key("advice").String(finding.advice);
  }
  if (finding.where) {
    WritePlace(*finding.where, json);
  }
  if (!finding.related.empty()) {
    json->Key("related").BeginArray();
    for (const RelatedPlace& place : finding.related) {
      json->BeginObject();
      json->Key("message").String(place.what);
      WritePlace(place.where, json);
      json->EndObject();
    }
    json->EndArray();
  }
  json->EndObject();
}

void WriteSarifPlace(const SourceRange& where, JsonWriter* json) {
  json->Key("physicalLocation").BeginObject();
  json->Key("artifactLocation").BeginObject();
  json->Key("uri").String(where.file);
  json->EndObject();
  if (where.line > 0) {
    json->Key("region").BeginObject();
    json->Key("startLine").Integer(where.line);
    json->Key("startColumn").Integer(std::max(1, where.column));
    if (where.end_line > 0) {
      json->Key("endLine").Integer(where.end_line);
      json->Key("endColumn").Integer(std::max(1, where.end_column));
    }
    json->EndObject();
  }
  json->EndObject();
}

void WriteSarif(const Error& finding, const char* level, JsonWriter* json) {
  json->BeginObject();
  json->Key("level").String(level);
  json->Key("message").BeginObject();
  json->Key("text").String(finding.advice.empty() ? finding.message
                                                  : finding.message + "; " + finding.advice);
  json->EndObject();
  if (finding.where) {
    json->Key("locations").BeginArray().BeginObject();
    WriteSarifPlace(*finding.where, json);
    json->EndObject().EndArray();
  }
  if (!finding.related.empty()) {
    json->Key("relatedLocations").BeginArray();
    for (const RelatedPlace& place : finding.related) {
      json->BeginObject();
      json->Key("message").BeginObject().Key("text").String(place.what).EndObject();
      WriteSarifPlace(place.where, json);
      json->EndObject();
    }
    json->EndArray();
  }
  json->EndObject();
}

}  // namespace

std::string FindingsText(const Findings& findings, const SourceText& source) {
  std::string text;
  for (const Error& error : findings.errors) {
    AppendFinding(error, "error", source, &text);
  }
  for (const Error& warning : findings.warnings) {
    AppendFinding(warning, "warning", source, &text);
  }
  const std::string warnings = findings.warnings.empty()
                                   ? std::string()
                                   : ", " + Counted(findings.warnings.size(), "warning");
  return text + (findings.errors.empty() ? "no errors" : Counted(findings.errors.size(), "error")) +
         warnings + "\n";
}

std::string FindingsJson(const Findings& findings) {
  JsonWriter json(2);
  json.BeginObject();
  json.Key("diagnostics").BeginArray();
  for (const Error& error : findings.errors) {
    WriteJson(error, "error", &json);
  }
  for (const Error& warning : findings.warnings) {
    WriteJson(warning, "warning", &json);
  }
  json.EndArray();
  json.Key("errors").Integer(static_cast<std::int64_t>(findings.errors.size()));
  json.Key("warnings").Integer(static_cast<std::int64_t>(findings.warnings.size()));
  json.EndObject();
  return json.Take() + "\n";
}

std::string FindingsSarif(const Findings& findings, const std::string& version) {
  JsonWriter json(2);
  json.BeginObject();
  json.Key("version").String("2.1.0");
  json.Key("$schema").String("https://json.schemastore.org/sarif-2.1.0.json");
  json.Key("runs").BeginArray().BeginObject();
  json.Key("tool").BeginObject().Key("driver").BeginObject();
  json.Key("name").String("davit");
  json.Key("version").String(version);
  json.EndObject().EndObject();
  json.Key("columnKind").String("unicodeCodePoints");
  json.Key("results").BeginArray();
  for (const Error& error : findings.errors) {
    WriteSarif(error, "error", &json);
  }
  for (const Error& warning : findings.warnings) {
    WriteSarif(warning, "warning", &json);
  }
  json.EndArray();
  json.EndObject().EndArray();
  json.EndObject();
  return json.Take() + "\n";
}

}  // namespace davit
