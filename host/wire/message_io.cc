#include "host/wire/message_io.h"

#include <google/protobuf/io/coded_stream.h>

namespace davit {

bool ParseMessage(std::string_view bytes, google::protobuf::MessageLite* message) {
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                               static_cast<int>(bytes.size()));
  input.SetRecursionLimit(kMaxMessageDepth);
  return message->ParseFromCodedStream(&input) && input.ConsumedEntireMessage();
}

std::string SerializeMessage(const google::protobuf::MessageLite& message) {
  return message.SerializePartialAsString();
}

}  // namespace davit
