// Compares the compiled descriptors with the wire tables in proto/tables. Both sides are turned
// into sets of facts, one line each, in which every item begins with its full name; a fact that
// only one side knows is a failure.

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace pb = google::protobuf;

using Facts = std::set<std::string>;

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::string::size_type begin = 0;
  while (true) {
    const auto end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) {
      return parts;
    }
    begin = end + 1;
  }
}

bool ConsumePrefix(std::string& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) {
    return false;
  }
  text.erase(0, prefix.size());
  return true;
}

std::string RpcFact(const std::string& name,
                    bool client_streaming,
                    const std::string& request,
                    bool server_streaming,
                    const std::string& response) {
  return fmt::format("{}: rpc ({}{}) returns ({}{})",
                     name,
                     client_streaming ? "stream " : "",
                     request,
                     server_streaming ? "stream " : "",
                     response);
}

std::string FieldFact(const std::string& name,
                      int number,
                      const std::string& label,
                      const std::string& type) {
  return fmt::format("{}: field {}, {}{}", name, number, label.empty() ? "" : label + " ", type);
}

// ---- facts of a table ----

// Reads the rows of one table. Refuses whatever it does not understand, so that no row goes
// unchecked.
class TableReader {
 public:
  Facts Read(std::istream& in) {
    std::string line;
    std::getline(in, line);
    if (line != "kind\towner\tname\tnumber\ttype_or_request\tlabel_or_response\tnote") {
      throw std::runtime_error("not a wire table: " + line);
    }
    while (std::getline(in, line)) {
      auto cells = Split(line, '\t');
      if (cells.size() != 7) {
        throw std::runtime_error("not seven cells: " + line);
      }
      Row row{cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], Split(cells[6], ';')[0]};
      if (!Add(row)) {
        throw std::runtime_error("row not understood: " + line);
      }
    }
    return std::move(facts_);
  }

 private:
  struct Row {
    std::string kind, owner, name, number, type, label;
    std::string note;  // up to the first semicolon; behind it stands a remark for people
  };

  bool Add(Row& row) {
    if (row.kind == "file") {
      packages_.insert(row.name);
      return true;
    }
    if (row.kind == "rpc") {
      return AddRpc(row);
    }
    if (row.kind == "message") {
      AddMessage(row.owner);
      return true;
    }
    if (row.kind == "field") {
      return AddField(row);
    }
    if (row.kind == "enum") {
      // The note of an enum value is a remark for people.
      facts_.insert(row.owner + ": enum");
      facts_.insert(fmt::format("{}.{}: value {}", row.owner, row.name, std::stoi(row.number)));
      AddMessage(Parent(row.owner));
      return true;
    }
    return row.kind == "reserved" && AddReserved(row);
  }

  bool AddRpc(Row& row) {
    const bool client_streaming =
        ConsumePrefix(row.type, "stream ") || (row.note == "client-streaming");
    const bool server_streaming =
        ConsumePrefix(row.label, "stream ") || (row.note == "server-streaming");
    if (!row.note.empty() && row.note != "client-streaming" && row.note != "server-streaming") {
      return false;
    }
    facts_.insert(row.owner + ": service");
    facts_.insert(RpcFact(
        row.owner + "." + row.name, client_streaming, row.type, server_streaming, row.label));
    return true;
  }

  bool AddField(const Row& row) {
    // Two tables put label and oneof in different columns.
    const bool noted = !row.note.empty() && row.note != "deprecated";
    if (noted && !row.label.empty()) {
      return false;
    }
    const std::string label = noted ? row.note : row.label;
    if (!label.empty() && label != "repeated" && label != "map" && label != "optional" &&
        !label.starts_with("oneof ")) {
      return false;
    }
    AddMessage(row.owner);
    facts_.insert(FieldFact(row.owner + "." + row.name, std::stoi(row.number), label, row.type));
    return true;
  }

  bool AddReserved(const Row& row) {
    AddMessage(row.owner);
    if (row.number.empty()) {
      facts_.insert(fmt::format("{}: reserves name {}", row.owner, row.name));
      return !row.name.empty();
    }
    const auto ends = Split(row.number, '-');  // both included
    for (int number = std::stoi(ends.front()); number <= std::stoi(ends.back()); ++number) {
      facts_.insert(fmt::format("{}: reserves number {}", row.owner, number));
    }
    return row.name.empty();
  }

  // A message that is named only as the home of something else exists as well.
  void AddMessage(const std::string& name) {
    if (!packages_.contains(name)) {
      facts_.insert(name + ": message");
      AddMessage(Parent(name));
    }
  }

  static std::string Parent(const std::string& name) {
    const auto dot = name.rfind('.');
    if (dot == std::string::npos) {
      throw std::runtime_error("outside of the table's packages: " + name);
    }
    return name.substr(0, dot);
  }

  Facts facts_;
  std::set<std::string> packages_;
};

Facts FactsOfTable(const std::string& name) {
  std::ifstream in(std::string(DAVIT_PROTO_TABLES) + "/" + name);
  return TableReader().Read(in);
}

// ---- facts of descriptors ----

std::string TypeName(const pb::FieldDescriptor& field) {
  if (field.is_map()) {
    return fmt::format("map<{},{}>",
                       TypeName(*field.message_type()->map_key()),
                       TypeName(*field.message_type()->map_value()));
  }
  if (field.message_type() != nullptr) {
    return field.message_type()->full_name();
  }
  if (field.enum_type() != nullptr) {
    return field.enum_type()->full_name();
  }
  return field.type_name();
}

std::string Label(const pb::FieldDescriptor& field) {
  if (field.is_map()) {
    return "map";
  }
  if (field.is_repeated()) {
    return "repeated";
  }
  if (const auto* oneof = field.real_containing_oneof()) {
    return "oneof " + oneof->name();
  }
  return field.has_optional_keyword() ? "optional" : "";
}

void AddEnum(const pb::EnumDescriptor& type, Facts& facts) {
  facts.insert(type.full_name() + ": enum");
  for (int i = 0; i < type.value_count(); ++i) {
    // The full name of a value lacks its enum, as in C++.
    facts.insert(fmt::format(
        "{}.{}: value {}", type.full_name(), type.value(i)->name(), type.value(i)->number()));
  }
}

void AddMessage(const pb::Descriptor& type, Facts& facts) {
  if (type.options().map_entry()) {
    return;
  }
  facts.insert(type.full_name() + ": message");
  for (int i = 0; i < type.field_count(); ++i) {
    const auto& field = *type.field(i);
    facts.insert(FieldFact(field.full_name(), field.number(), Label(field), TypeName(field)));
  }
  for (int i = 0; i < type.reserved_range_count(); ++i) {
    for (int number = type.reserved_range(i)->start; number < type.reserved_range(i)->end;
         ++number) {
      facts.insert(fmt::format("{}: reserves number {}", type.full_name(), number));
    }
  }
  for (int i = 0; i < type.reserved_name_count(); ++i) {
    facts.insert(fmt::format("{}: reserves name {}", type.full_name(), type.reserved_name(i)));
  }
  for (int i = 0; i < type.enum_type_count(); ++i) {
    AddEnum(*type.enum_type(i), facts);
  }
  for (int i = 0; i < type.nested_type_count(); ++i) {
    AddMessage(*type.nested_type(i), facts);
  }
}

void AddFile(const pb::DescriptorPool& pool, const std::string& path, Facts& facts) {
  const auto* file = pool.FindFileByName(path);
  if (file == nullptr) {
    throw std::runtime_error("no descriptor of " + path);
  }
  for (int i = 0; i < file->service_count(); ++i) {
    facts.insert(file->service(i)->full_name() + ": service");
    for (int j = 0; j < file->service(i)->method_count(); ++j) {
      const auto& method = *file->service(i)->method(j);
      facts.insert(RpcFact(method.full_name(),
                           method.client_streaming(),
                           method.input_type()->full_name(),
                           method.server_streaming(),
                           method.output_type()->full_name()));
    }
  }
  for (int i = 0; i < file->message_type_count(); ++i) {
    AddMessage(*file->message_type(i), facts);
  }
  for (int i = 0; i < file->enum_type_count(); ++i) {
    AddEnum(*file->enum_type(i), facts);
  }
}

// Facts of the given files, separated by blanks, as linked into this program.
Facts FactsOfLinked(const std::string& files) {
  Facts facts;
  for (const auto& path : Split(files, ' ')) {
    AddFile(*pb::DescriptorPool::generated_pool(), path, facts);
  }
  return facts;
}

// ---- comparison ----

std::vector<std::string> Differences(const Facts& table, const Facts& compiled) {
  std::vector<std::string> only_table;
  std::vector<std::string> only_compiled;
  std::set_difference(
      table.begin(), table.end(), compiled.begin(), compiled.end(), std::back_inserter(only_table));
  std::set_difference(compiled.begin(),
                      compiled.end(),
                      table.begin(),
                      table.end(),
                      std::back_inserter(only_compiled));
  std::vector<std::string> result;
  for (const auto& fact : only_table) {
    result.push_back("missing in the .proto files: " + fact);
  }
  for (const auto& fact : only_compiled) {
    result.push_back("not in the table: " + fact);
  }
  return result;
}

void CheckSame(const Facts& table, const Facts& compiled) {
  CHECK(!table.empty());
  for (const auto& difference : Differences(table, compiled)) {
    FAIL_CHECK(difference);
  }
}

}  // namespace

TEST_CASE("pulumirpc and codegen match their table") {
  CheckSame(FactsOfTable("pulumirpc.tsv"), FactsOfLinked(DAVIT_PROTO_FILES_PULUMIRPC));
}

TEST_CASE("the 2017 monitor matches its table") {
  pb::FileDescriptorSet set;
  std::ifstream in(DAVIT_PROTO_MONITOR_2017_SET, std::ios::binary);
  REQUIRE(set.ParseFromIstream(&in));
  pb::DescriptorPool pool;
  for (const auto& file : set.file()) {
    REQUIRE(pool.BuildFile(file) != nullptr);
  }
  // Messages as linked, the service from the set.
  Facts compiled = FactsOfLinked(DAVIT_PROTO_FILES_PULUMIRPC_2017);
  AddFile(pool, "pulumirpc_2017/monitor.proto", compiled);
  CheckSame(FactsOfTable("pulumirpc-2017-monitor.tsv"), compiled);
}

TEST_CASE("lumirpc matches its table") {
  CheckSame(FactsOfTable("lumirpc-2017.tsv"), FactsOfLinked(DAVIT_PROTO_FILES_LUMIRPC));
}

TEST_CASE("terraform1 matches its table") {
  CheckSame(FactsOfTable("terraform1-rpcapi.tsv"), FactsOfLinked(DAVIT_PROTO_FILES_TERRAFORM1));
}

TEST_CASE("google.rpc and grpc.health.v1 match their published form") {
  const Facts published{
      "google.rpc.Status.code: field 1, int32",
      "google.rpc.Status.details: field 3, repeated google.protobuf.Any",
      "google.rpc.Status.message: field 2, string",
      "google.rpc.Status: message",
      "grpc.health.v1.Health.Check: rpc (grpc.health.v1.HealthCheckRequest) returns "
      "(grpc.health.v1.HealthCheckResponse)",
      "grpc.health.v1.Health.Watch: rpc (grpc.health.v1.HealthCheckRequest) returns "
      "(stream grpc.health.v1.HealthCheckResponse)",
      "grpc.health.v1.Health: service",
      "grpc.health.v1.HealthCheckRequest.service: field 1, string",
      "grpc.health.v1.HealthCheckRequest: message",
      "grpc.health.v1.HealthCheckResponse.ServingStatus.NOT_SERVING: value 2",
      "grpc.health.v1.HealthCheckResponse.ServingStatus.SERVICE_UNKNOWN: value 3",
      "grpc.health.v1.HealthCheckResponse.ServingStatus.SERVING: value 1",
      "grpc.health.v1.HealthCheckResponse.ServingStatus.UNKNOWN: value 0",
      "grpc.health.v1.HealthCheckResponse.ServingStatus: enum",
      "grpc.health.v1.HealthCheckResponse.status: field 1, "
      "grpc.health.v1.HealthCheckResponse.ServingStatus",
      "grpc.health.v1.HealthCheckResponse: message",
  };
  CheckSame(published, FactsOfLinked(DAVIT_PROTO_FILES_SUPPORT));
}

TEST_CASE("a difference is reported in both directions, by full name") {
  const std::string header =
      "kind\towner\tname\tnumber\ttype_or_request\tlabel_or_response\tnote\n"
      "file\ta.proto\tp\t\t\t\t\n";
  const auto read = [&](const std::string& rows) {
    std::istringstream in(header + rows);
    return TableReader().Read(in);
  };
  const auto one = read("field\tp.M\tf\t1\tstring\t\t\n");
  const auto other = read("field\tp.M\tf\t2\tstring\t\t\n");
  CHECK(Differences(one, other) ==
        std::vector<std::string>{"missing in the .proto files: p.M.f: field 1, string",
                                 "not in the table: p.M.f: field 2, string"});
  CHECK_THROWS_WITH(read("field\tp.M\tf\t1\tstring\t\tnovel\n"),
                    Catch::Contains("row not understood"));
  CHECK_THROWS_WITH(read("group\tp.M\tf\t1\tstring\t\t\n"), Catch::Contains("row not understood"));
}
