#pragma once
// What a package has, told from its schema (C63). Pure.

#include <string>

#include "engine/base/result.h"

namespace davit {

struct SchemaQuestion {
  std::string module;
  std::string resource;  ///< name inside the module, or a whole token
  std::string function;
};

/// The package, or the resource or function that is asked for. An error names what is not there.
Result<std::string> SchemaText(const std::string& schema, const SchemaQuestion& question);

/// JSON spread over lines, two blanks a level; keys keep their order. An error when it is none.
Result<std::string> IndentedJson(const std::string& text);

}  // namespace davit
