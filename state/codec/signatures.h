#pragma once
// The marks of special values in state files (S47-S58).

#include <string_view>

namespace davit {

inline constexpr std::string_view kSignatureKey = "4dabf18193072939515e22adb298388d";
inline constexpr std::string_view kSecretSignature = "1b47061264138c4ac30d75fd1eb44270";
inline constexpr std::string_view kBytesSignature = "803fd3297a5875dc03ca845dda5d2a98";
inline constexpr std::string_view kNumberSignature = "8ad145fe-0d11-4827-bfd7-1abcbf086f5c";
inline constexpr std::string_view kAssetSignature = "c44067f5952c0a294b673a41bacd8c17";
inline constexpr std::string_view kArchiveSignature = "0def7320c3a5731c473e5ecbe6d01bc7";
inline constexpr std::string_view kReferenceSignature = "5cf8f73096256a8f31e491e813e4eb8e";
/// SHA-256 of nothing: the hash of an empty text asset (S56).
inline constexpr std::string_view kEmptyTextHash =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/// SHA-256 of 1024 zero bytes: the hash of an empty archive (S57).
inline constexpr std::string_view kEmptyArchiveHash =
    "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef";

}  // namespace davit
