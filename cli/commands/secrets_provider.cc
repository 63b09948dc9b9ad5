// `stack change-secrets-provider` (C42, S80, S81).

#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/commands.h"
#include "cli/commands/config_edit.h"
#include "cli/terminal.h"

namespace davit {
namespace {

// The environment says the old one, so it is not asked for the new one (S81).
Result<std::string> NewPassphrase(const Context& context) {
  if (context.is_interactive()) {
    const std::string first = Ask("New passphrase: ", true).value_or("");
    if (Ask("The same again: ", true).value_or("") != first) {
      return Fail(ErrorKind::kRefused, "the two passphrases differ");
    }
    return first;
  }
  DAVIT_TRY(const std::string input, ReadStandardInput());
  if (input.empty()) {
    return Fail(
        ErrorKind::kInvalid, "no new passphrase was given", "pass it as a line on standard input");
  }
  const std::string line = input.substr(0, input.find('\n'));
  const std::size_t begin = line.find_first_not_of(" \t\r");
  return begin == std::string::npos
             ? std::string()
             : line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

Result<void> CheckProvider(const std::string& name) {
  if (name == "default" || name == "passphrase") {
    return {};
  }
  const std::string scheme = name.substr(0, name.find("://"));
  const bool is_known = scheme == "awskms" || scheme == "azurekeyvault" || scheme == "gcpkms" ||
                        scheme == "hashivault";
  return is_known ? Fail(ErrorKind::kUnimplemented,
                         fmt::format("davit does not support the secrets provider '{}' yet", name),
                         "use passphrase")
                  : Fail(ErrorKind::kInvalid,
                         fmt::format("unknown secrets provider type '{}'", name),
                         "use passphrase");
}

}  // namespace

// Everything is encrypted anew before anything is written; then the state, which holds more, then
// the stack file. If that fails the state is put back (W14).
Result<int> ChangeSecretsProvider(Context& context) {
  DAVIT_TRY_VOID(CheckProvider(context.invocation().arguments[0]));
  DAVIT_TRY(StackSession session, OpenStack(context));
  DAVIT_TRY(const std::unique_ptr<StackLock> lock, session.backend->Lock(session.stack));
  DAVIT_TRY(const LoadedStack loaded,
            session.backend->Load(session.stack, session.secrets->Opener(), true));
  DAVIT_TRY(const std::shared_ptr<SecretsManager> before, session.Manager());
  if (before) {
    DAVIT_TRY_VOID(StackSecrets::Verify(*before));
  }
  DAVIT_TRY(const std::string passphrase, NewPassphrase(context));
  DAVIT_TRY(std::unique_ptr<SecretsManager> made, NewPassphraseManager(passphrase, SystemRandom));
  const std::shared_ptr<SecretsManager> after = std::move(made);
  const std::map<std::string, ConfigNode> config = session.file.config();
  for (const auto& [key, node] : config) {
    if (HasSecure(node)) {
      DAVIT_TRY(ConfigNode sealed, Reencrypted(node, DecrypterOf(before), *after));
      session.file.Set(key, std::move(sealed));
    }
  }
  DAVIT_TRY(const std::string salt, SaltOf(after->state_json()));
  session.file.ClearSecretsProvider();
  session.file.SetEncryptionSalt(salt);
  context.Out("Migrating old configuration and state to new secrets provider\n");
  DAVIT_TRY_VOID(session.backend->Save(session.stack, loaded.snapshot, after));
  Result<void> saved = session.file.Save();
  if (!saved) {
    DAVIT_TRY_VOID(session.backend->Save(session.stack, loaded.snapshot, before));
    return Fail(std::move(saved).error());
  }
  return kExitOk;
}

}  // namespace davit
