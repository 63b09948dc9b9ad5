#include "engine/base/uuid.h"

#include "engine/base/digest.h"

namespace davit {

std::string UuidText(std::string random) {
  random[6] = static_cast<char>((static_cast<unsigned char>(random[6]) & 0x0FU) | 0x40U);
  random[8] = static_cast<char>((static_cast<unsigned char>(random[8]) & 0x3FU) | 0x80U);
  std::string text = HexText(random);
  for (const std::size_t at : {20, 16, 12, 8}) {
    text.insert(at, "-");
  }
  return text;
}

}  // namespace davit
