#include "engine/yaml/component_provider.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/own_provider.h"
#include "engine/yaml/evaluation.h"

namespace davit {
namespace {

Unexpected OnlyComponents() {
  return Fail(ErrorKind::kUnimplemented, "the plugin is written in YAML and has components only");
}

class ComponentProvider final : public OwnProvider {
 public:
  ComponentProvider(ComponentPlugin plugin, YamlProgram program, std::string version)
      : plugin_(std::move(plugin)), program_(std::move(program)), version_(std::move(version)) {}

  const std::string& version() const override { return version_; }

  Task<Result<std::string>> GetSchema(CancelToken) override {
    co_return ComponentSchema(program_.project, version_, program_.components);
  }
  Task<Result<void>> Extend(Parameterization, CancelToken) override { co_return OnlyComponents(); }
  Task<Result<CheckResponse>> Check(CheckRequest, CancelToken) override {
    co_return OnlyComponents();
  }
  Task<Result<DiffResponse>> Diff(DiffRequest, CancelToken) override { co_return OnlyComponents(); }
  Task<Result<CreateResponse>> Create(CreateRequest, CancelToken) override {
    co_return OnlyComponents();
  }
  Task<Result<UpdateResponse>> Update(UpdateRequest, CancelToken) override {
    co_return OnlyComponents();
  }
  Task<Result<ReadResponse>> Read(ReadRequest, CancelToken) override { co_return OnlyComponents(); }
  Task<Result<void>> Delete(DeleteRequest, CancelToken) override { co_return OnlyComponents(); }
  Task<Result<InvokeResponse>> Invoke(InvokeRequest, CancelToken) override {
    co_return OnlyComponents();
  }
  Task<Result<CallResponse>> Call(CallRequest, CancelToken) override {
    co_return OnlyComponents();  // Y195
  }

  Task<Result<ConstructResponse>> Construct(ConstructRequest request, CancelToken cancel) override {
    Monitor* monitor = plugin_.monitor(request.run.monitor_address);
    const YamlComponent* component = ComponentOf(program_, request.goal.type);
    if (monitor == nullptr || component == nullptr) {
      co_return Fail(
          ErrorKind::kInvalid,
          fmt::format(
              "the plugin '{}' has no component '{}'", program_.project, request.goal.type));
    }
    YamlRun run(
        program_, plugin_.read, plugin_.folder, *monitor, *request.run.info, std::move(cancel));
    const std::vector<Error> warnings = co_await run.Check();
    const std::string urn_name = request.goal.name;
    std::optional<YamlResourceResult> built;
    if (!run.has_failed()) {
      for (const Error& warning : warnings) {
        monitor->Log(Severity::kWarning, warning.Text(), Urn());
      }
      built = co_await run.BuildComponent(*component, OwnGoal(std::move(request.goal)));
    }
    if (!built) {
      Error failed = MakeError(ErrorKind::kFailed, fmt::format("'{}' failed", urn_name));
      failed.reported = true;
      co_return Fail(std::move(failed));
    }
    ConstructResponse response;
    response.urn = std::move(built->urn);
    response.state = std::move(built->outputs);
    co_return response;
  }

  Task<Result<void>> Cancel() override { co_return Result<void>(); }
  Task<void> Close() override { co_return; }

 private:
  // What the component is registered with: its provider and package are those of the plugin.
  static Goal OwnGoal(Goal goal) {
    goal.provider.clear();
    goal.package_ref.clear();
    goal.version.clear();
    goal.download_url.clear();
    goal.checksums.clear();
    for (auto& [name, value] : goal.properties) {
      std::vector<Urn>& dependencies = goal.property_dependencies[name];
      for (std::string& text : DependenciesIn(value)) {
        Urn urn = Urn::Trusted(std::move(text));
        if (std::ranges::find(dependencies, urn) == dependencies.end()) {
          dependencies.push_back(std::move(urn));
        }
      }
      value = WithoutOutputs(value);
    }
    return goal;
  }

  ComponentPlugin plugin_;
  YamlProgram program_;
  std::string version_;
};

std::string RootText(const YamlDocument& document, const char* key) {
  const YamlEntry* entry = document.root.Find(key);
  return entry != nullptr && entry->value.is_string() ? entry->value.text : std::string();
}

}  // namespace

Result<std::shared_ptr<Provider>> LoadComponentPlugin(ComponentPlugin plugin) {
  std::vector<std::shared_ptr<const YamlDocument>> documents;
  std::vector<Error> errors;
  std::string name;
  std::string version;
  std::ranges::sort(plugin.files);
  for (const std::string& path : plugin.files) {
    DAVIT_TRY(std::string text, plugin.read(path));
    auto document = std::make_shared<const YamlDocument>(ParseYaml(path, std::move(text)));
    name = name.empty() ? RootText(*document, "name") : name;
    version = version.empty() ? RootText(*document, "version") : version;
    documents.push_back(std::move(document));
  }
  std::vector<Error> warnings;
  YamlProgram program = LoadPlugin(documents, name, &errors, &warnings);
  if (name.empty()) {  // Y190
    Error error = MakeError(ErrorKind::kInvalid, "the plugin has no 'name'", "add 'name: <name>'");
    error.where = SourceRange{documents.front()->file, 1, 1, 0, 0};
    errors.insert(errors.begin(), std::move(error));
  }
  if (errors.size() == 1) {
    return Fail(std::move(errors.front()));
  }
  if (!errors.empty()) {
    std::string message = fmt::format("{} errors in the plugin:", errors.size());
    for (const Error& error : errors) {
      message += "\n    " + error.Text();
    }
    return Fail(ErrorKind::kInvalid, message);
  }
  return std::shared_ptr<Provider>(std::make_shared<ComponentProvider>(
      std::move(plugin), std::move(program), version.empty() ? "0.0.0" : version));
}

}  // namespace davit
