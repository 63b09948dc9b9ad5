#pragma once
// Seam: sources of randomness, so that tests are deterministic.

#include <string>

namespace davit {

class Ids {
 public:
  virtual ~Ids() = default;
  /// A version 4 UUID in lower-case text.
  virtual std::string NewUuid() = 0;
  /// `count` random bytes.
  virtual std::string RandomBytes(int count) = 0;
};

}  // namespace davit
