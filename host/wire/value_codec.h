#pragma once
// PropertyValue to and from google.protobuf.Struct (P55-P63). The only header, with its neighbours in host/wire, that
// names protobuf types. Pure, any thread. Structs are read with their keys sorted, so errors are deterministic (P62).

#include <google/protobuf/struct.pb.h>

#include "engine/base/result.h"
#include "engine/value/property_value.h"

namespace davit {

/// Options of one conversion; the names in plugins.md are given in brackets.
struct CodecOptions {
  bool keep_unknowns = false;         ///< [KU]
  bool reject_unknowns = false;       ///< [RU] beats keep_unknowns
  bool keep_secrets = false;          ///< [KS]
  bool keep_resources = false;        ///< [KR]
  bool keep_outputs = false;          ///< [KO]
  bool upgrade_to_outputs = false;    ///< [UP]
  bool keep_byte_strings = false;     ///< [KB] else text that is not UTF-8 is an error naming the property
  bool elide_asset_contents = false;  ///< [EA]
  bool skip_nulls = false;            ///< [SN]
  bool skip_internal_keys = false;    ///< [SI]
  bool reject_assets = false;         ///< [RA]
};

/// Fills `out` (cleared first). Errors name the property path, never a value. A single value that the options drop becomes null.
Result<void> EncodeStruct(const PropertyMap& map, const CodecOptions& options, google::protobuf::Struct* out);
Result<void> EncodeValue(const PropertyValue& value, const CodecOptions& options, google::protobuf::Value* out);
Result<PropertyMap> DecodeStruct(const google::protobuf::Struct& in, const CodecOptions& options);
Result<PropertyValue> DecodeValue(const google::protobuf::Value& in, const CodecOptions& options);

}  // namespace davit
