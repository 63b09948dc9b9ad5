#pragma once
// What `davit import` asks for, from the names of a file to URNs (C20, C21, E155). Pure, any
// thread.

#include <string>
#include <vector>

#include "engine/import_spec.h"
#include "state/codec/import_json.h"

namespace davit {

/// How the code for an import calls it and what it refers to.
struct ImportNames {
  std::string key;       ///< in `resources` of the program; unique
  std::string parent;    ///< empty: none
  std::string provider;  ///< empty: the default one
};

struct ImportOrder {
  std::vector<ImportSpec> specs;
  std::vector<ImportNames> names;  ///< by entry of `specs`
};

/// Every mistake of the file, each with the resource, is in the error.
Result<ImportOrder> ResolveImports(const ImportFile& file,
                                   const std::string& stack,
                                   const std::string& project,
                                   bool protect);

}  // namespace davit
