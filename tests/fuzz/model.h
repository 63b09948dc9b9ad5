#pragma once
// The world of the fuzz test: objects that a model provider holds, and programs that register
// nodes.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/base/waiting.h"
#include "tests/fuzz/history.h"
#include "tests/support/engine_fakes.h"

namespace davit::fuzz {

/// Ids of objects that exist without our doing; programs only read them.
inline constexpr std::string_view kForeign = "foreign-";

struct Object {
  Urn urn;
  PropertyMap inputs;
};

/// What exists, whatever the state says.
struct Cloud {
  std::map<std::string, Object> objects;  ///< by id
  std::set<std::string>
      excused_objects;  ///< ids that nobody needs to know: the answer of their create was lost
  std::set<std::string> excused_records;  ///< ids that a record may name though nothing exists
  /// Ids of objects whose inputs may differ from those of their record.
  std::set<std::string> excused_inputs;
};

/// A provider over a cloud, with the faults of one move. Checks what it is asked.
class ModelProvider {
 public:
  /// Connects `behaviour` to this model, which must live as long.
  explicit ModelProvider(testing::FakeBehaviour& behaviour);

  Cloud cloud;
  /// Begins a move: its faults, counted from its first call.
  void Begin(std::map<int, Fault> faults);
  /// What was wrong with the calls of this move; the first one only.
  const std::string& complaint() const { return complaint_; }
  /// Ids deleted in this move.
  const std::set<std::string>& deleted() const { return deleted_; }
  const std::set<std::string>& updated() const { return updated_; }
  int changes() const {
    return changes_;
  }  ///< creates, updates and deletes of this move, previews left out

 private:
  std::optional<Fault> NextFault();
  void Complain(std::string text);
  Result<CreateResponse> Create(const CreateRequest& request);
  Result<UpdateResponse> Update(const UpdateRequest& request);
  Result<ReadResponse> Read(const ReadRequest& request);
  Result<void> Delete(const DeleteRequest& request);

  std::map<int, Fault> faults_;
  int calls_ = 0;
  int changes_ = 0;
  int last_id_ = 0;
  std::set<std::string> deleted_;
  std::set<std::string> updated_;
  std::string complaint_;
};

/// Registers the nodes of a program, each as soon as what it refers to is there.
class ModelProgram final : public Source {
 public:
  explicit ModelProgram(Program program) : program_(std::move(program)) {}
  Task<Result<void>> Run(Monitor& monitor, const RunInfo& info, CancelToken cancel) override;

 private:
  using Answer = std::shared_ptr<Completion<Result<RegisterResponse>>>;
  Task<void> Register(Monitor& monitor, const Node& node);
  Task<Result<RegisterResponse>> Ask(Monitor& monitor, const Node& node, Goal goal) const;
  Goal GoalOf(const Node& node, const std::map<std::string, RegisterResponse>& known) const;

  Program program_;
  std::map<std::string, Answer> answers_;
  Urn root_;
};

}  // namespace davit::fuzz
