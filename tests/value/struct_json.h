#pragma once
// Structs as JSON text, for tests of the codec. `$sig` stands for the signature key, and `$secret`,
// `$output`, `$reference`,
// `$asset`, `$archive`, `$bytes` for the signatures.

#include <google/protobuf/struct.pb.h>

#include <string>

namespace davit::testing {

google::protobuf::Struct Json(std::string text);
/// JSON with sorted keys and without blanks, in the same notation.
std::string JsonOf(const google::protobuf::Struct& value);

}  // namespace davit::testing
