#include "cli/session.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "cli/terminal.h"

namespace davit {
namespace {

// Gives every secret as the text that displays show, so that looking at a stack needs no
// passphrase.
class MaskingManager final : public SecretsManager {
 public:
  MaskingManager(std::string type, std::string state_json)
      : type_(std::move(type)), state_json_(std::move(state_json)) {}
  std::string type() const override { return type_; }
  std::string state_json() const override { return state_json_; }
  Result<std::string> Encrypt(const std::string&) override {
    return Fail(ErrorKind::kBug, "a masked state cannot be written");
  }
  Result<std::string> Decrypt(const std::string&) override { return std::string("\"[secret]\""); }

 private:
  std::string type_;
  std::string state_json_;
};

}  // namespace

std::string VersionText() {
  return DAVIT_VERSION;
}

Result<std::shared_ptr<SecretsManager>> StackSession::Manager() {
  DAVIT_TRY(std::shared_ptr<SecretsManager> from_file, secrets->Resolve(file, "", ""));
  if (from_file) {
    return from_file;
  }
  DAVIT_TRY(const LoadedStack loaded, LoadMasked());
  return secrets->Resolve(file, loaded.snapshot.secrets_type, loaded.snapshot.secrets_state);
}

Result<std::shared_ptr<SecretsManager>> StackSession::ManagerForWriting() {
  DAVIT_TRY(std::shared_ptr<SecretsManager> manager, Manager());
  if (!manager) {
    DAVIT_TRY(manager, secrets->Create());
  }
  if (file.encryption_salt().empty()) {
    DAVIT_TRY(const std::string salt, SaltOf(manager->state_json()));
    file.ClearSecretsProvider();
    file.SetEncryptionSalt(salt);
  }
  return manager;
}

Result<LoadedStack> StackSession::LoadMasked() const {
  return backend->Load(
      stack,
      [](const std::string& type, const std::string& state_json) {
        return Result<std::shared_ptr<SecretsManager>>(
            std::make_shared<MaskingManager>(type, state_json));
      },
      false);
}

Result<Workspace> OpenWorkspace(const Context& context) {
  return Workspace::Open(context.directory(), context.environment());
}

Result<std::unique_ptr<Backend>> OpenWorkspaceBackend(const Workspace& workspace) {
  int crash_point = 0;  // only tests ask for it (docs/TESTING.md)
  const auto asked = workspace.environment().find("DAVIT_CRASH_POINT");
  if (asked != workspace.environment().end()) {
    const std::string& text = asked->second;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), crash_point);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) {
      return Fail(ErrorKind::kInvalid,
                  fmt::format("DAVIT_CRASH_POINT is '{}', which is no whole number", text),
                  "unset it; it is for the crash tests");
    }
  }
  return OpenBackend(
      workspace.BackendUrl(), workspace.has_own_backend(), VersionText(), crash_point);
}

std::unique_ptr<StackSecrets> MakeSecrets(const Context& context) {
  const bool may_ask = context.is_interactive();
  PassphraseSource passphrase = [may_ask](int attempt) -> Result<std::string> {
    DAVIT_TRY(std::optional<std::string> given, PassphraseFromEnvironment());
    if (given && attempt == 0) {
      return *std::move(given);
    }
    if (given || !may_ask) {
      return Fail(ErrorKind::kRefused,
                  "passphrase must be set with PULUMI_CONFIG_PASSPHRASE or "
                  "PULUMI_CONFIG_PASSPHRASE_FILE environment "
                  "variables");
    }
    std::optional<std::string> typed =
        Ask("Enter your passphrase to unlock config/secrets: ", true);
    if (!typed) {
      return Fail(ErrorKind::kRefused, "no passphrase was given");
    }
    return *std::move(typed);
  };
  return std::make_unique<StackSecrets>(std::move(passphrase), SystemRandom);
}

std::string ConfigPath(const Context& context,
                       const Workspace& workspace,
                       const std::string& stack) {
  const std::string given = context.invocation().Text("config-file");
  if (!given.empty()) {
    return (std::filesystem::path(context.directory()) / given).lexically_normal().string();
  }
  return workspace.StackFilePath(stack);
}

Result<StackRef> ChosenStack(Context& context,
                             const Workspace& workspace,
                             const std::string& named) {
  std::string name = named.empty() ? context.invocation().Text("stack") : named;
  Result<std::string> selected = workspace.SelectedStack();
  if (name.empty()) {
    DAVIT_TRY(name, std::move(selected));
  } else if (!selected) {
    context.Err(fmt::format("warning: {}\n", selected.error().Text()));
  }
  if (name.empty()) {
    return Fail(ErrorKind::kInvalid,
                "no stack selected",
                "use `davit stack select` or `davit stack init` to choose one, or --stack");
  }
  return ParseStackRef(name, workspace.project().name);
}

Result<StackSession> OpenStack(Context& context, const std::string& named) {
  DAVIT_TRY(Workspace workspace, OpenWorkspace(context));
  DAVIT_TRY(StackRef stack, ChosenStack(context, workspace, named));
  DAVIT_TRY(std::unique_ptr<Backend> backend, OpenWorkspaceBackend(workspace));
  DAVIT_TRY(const bool exists, backend->Exists(stack));
  if (!exists) {
    return context.Failure(
        kExitNoStack,
        MakeError(ErrorKind::kInvalid,
                  fmt::format("no stack named '{}' found in {}", stack.stack, backend->url()),
                  fmt::format("`davit stack init {}` creates it", stack.stack)));
  }
  DAVIT_TRY(StackFile file,
            StackFile::Load(ConfigPath(context, workspace, stack.stack), stack.project));
  StackSession session{std::move(workspace),
                       std::move(backend),
                       std::move(stack),
                       std::move(file),
                       MakeSecrets(context)};
  return session;
}

}  // namespace davit
