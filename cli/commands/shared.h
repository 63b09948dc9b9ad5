#pragma once
// What several commands need: deleting a stack, times as text, files with secrets of a stack.

#include <string>
#include <vector>

#include "cli/session.h"
#include "cli/workspace/effective_config.h"
#include "engine/deployment.h"
#include "host/client/analyzer_client.h"
#include "state/codec/property_json.h"

namespace davit {

/// Deletes the stack and, unless kept, its configuration file; the stack is then not selected any
/// more (S150).
Result<void> DeleteStack(StackSession& session,
                         bool force,
                         bool preserve_config,
                         bool remove_backups);
/// The same while the caller holds the lock.
Result<void> DeleteLockedStack(StackSession& session,
                               bool force,
                               bool preserve_config,
                               bool remove_backups);

/// The configuration of a run as plans and the history hold it: secrets encrypted, and a default
/// that the project declares secret, too (left out without a manager, which may be null).
Result<std::string> EffectiveConfigJson(const EffectiveConfig& config,
                                        const ProjectFile& project,
                                        SecretsManager* manager);

/// `update`, `destroy`, ... as prompts and the history call what a run does.
const char* ModeName(DeploymentMode mode);

/// `--yes`, or its environment variable (C72).
bool IsApproved(const Context& context);
/// The manager to write a snapshot with: that of the stack file, else its own, else, if anything in
/// it is secret, a new one whose salt is stored in the stack file.
Result<std::shared_ptr<SecretsManager>> ManagerForSaving(StackSession& session,
                                                         const Snapshot& snapshot);

/// Whether `--output` asks for JSON; a value that it does not have is an error.
Result<bool> WantsJson(const Context& context);

/// `2006-01-02T15:04:05.000Z` (C65).
std::string JsonTime(WallTime time);
/// `just now`, `5 minutes ago`, ...
std::string AgoText(WallTime time);

/// How the values of a file are read whose secrets the stack's manager has encrypted. Without a
/// manager a secret is an error that says so.
class StackReading {
 public:
  explicit StackReading(std::shared_ptr<SecretsManager> manager);
  StackReading(const StackReading&) = delete;
  StackReading& operator=(const StackReading&) = delete;
  const PropertyReading& reading() const { return reading_; }

 private:
  SecretTexts texts_;
  DocumentSecrets document_;
  PropertyReading reading_;
};

/// The packs with absolute paths, since plugins start in the program's folder, and with the text of
/// their configuration files.
Result<std::vector<PolicyPackSpec>> ReadyPolicyPacks(std::vector<PolicyPackSpec> packs);

}  // namespace davit
