// pulumi-resource-random: a stand-in with the types that the programs in files/ use.

#include <fmt/format.h>

#include <array>
#include <random>

#include "providers/kit/provider.h"

namespace davit::kit {
namespace {

std::string HexDigits(std::size_t count) {
  static std::random_device source;
  std::string digits;
  while (digits.size() < count) {
    digits += fmt::format("{:08x}", source());
  }
  return digits.substr(0, count);
}

std::string Pet(const PropertyMap& inputs) {
  constexpr std::array<const char*, 8> kWords{
      "calm", "brave", "otter", "heron", "swift", "small", "lynx", "wren"};
  static std::random_device source;
  const std::string separator = *inputs.at("separator").as_string();
  std::string name;
  if (inputs.contains("prefix")) {
    name = *inputs.at("prefix").as_string() + separator;
  }
  for (int word = 0; word < static_cast<int>(*inputs.at("length").as_number()); ++word) {
    name += kWords.at(source() % kWords.size()) + separator;
  }
  return name + HexDigits(6);
}

std::string Uuid(const PropertyMap&) {
  return fmt::format(
      "{}-{}-4{}-8{}-{}", HexDigits(8), HexDigits(4), HexDigits(3), HexDigits(3), HexDigits(12));
}

/// A name that is made once; every change of an input replaces it.
class RandomName final : public ResourceHandler {
 public:
  RandomName(ResourceSchema schema, std::string (*make)(const PropertyMap&))
      : ResourceHandler(std::move(schema)), make_(make) {}

  Result<CreateResponse> Create(const CreateRequest& request, CallContext&) override {
    CreateResponse response;
    response.outputs = request.inputs;
    if (!request.preview) {
      response.id = make_(Plain(request.inputs));
      response.outputs["id"] = response.id;
    }
    return response;
  }
  Result<ReadResponse> Read(const ReadRequest& request, CallContext&) override {
    ReadResponse response;
    response.id = request.id;
    response.inputs = request.inputs;
    response.outputs = request.state;
    (*response.outputs)["id"] = request.id;
    return response;
  }
  Result<void> Delete(const DeleteRequest&, CallContext&) override { return {}; }

 private:
  std::string (*make_)(const PropertyMap&);
};

PropertySchema Keepers() {
  return {.name = "keepers",
          .type = SchemaType::MapOf(SchemaType::String()),
          .replace_on_changes = true};
}

ProviderPackage Random() {
  ProviderPackage package;
  package.name = "random";
  package.version = "4.16.0";
  package.resources = {
      std::make_shared<RandomName>(ResourceSchema{.token = "random:index/randomPet:RandomPet",
                                                  .inputs = {Keepers(),
                                                             {.name = "length",
                                                              .type = SchemaType::Integer(),
                                                              .replace_on_changes = true,
                                                              .default_value = 2},
                                                             {.name = "prefix",
                                                              .type = SchemaType::String(),
                                                              .replace_on_changes = true},
                                                             {.name = "separator",
                                                              .type = SchemaType::String(),
                                                              .replace_on_changes = true,
                                                              .default_value = "-"}}},
                                   Pet),
      std::make_shared<RandomName>(
          ResourceSchema{.token = "random:index/randomUuid:RandomUuid", .inputs = {Keepers()}},
          Uuid)};
  return package;
}

}  // namespace
}  // namespace davit::kit

int main(int argc, char** argv) {
  return davit::kit::Serve(davit::kit::Random(), argc, argv);
}
