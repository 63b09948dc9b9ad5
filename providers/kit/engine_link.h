#pragma once
// The plugin's way back to the engine: its log and its health (P37, P90). Any thread.

#include <memory>
#include <mutex>
#include <string>

#include "engine/source.h"

namespace davit::kit {

struct LogLine {
  Severity severity = Severity::kInfo;
  std::string message;
  std::string urn;
  bool is_ephemeral = false;
};

class EngineLink {
 public:
  EngineLink();
  ~EngineLink();
  EngineLink(const EngineLink&) = delete;
  EngineLink& operator=(const EngineLink&) = delete;

  /// Where the engine listens; the first address stays.
  void Connect(const std::string& address);
  /// Sends one line and waits until it has arrived, so that lines keep their order; without an
  /// engine it goes to stderr.
  void Log(const LogLine& line);
  /// False when there is an engine that does not answer its health service (P37).
  bool IsEngineAlive();

 private:
  struct Impl;
  std::shared_ptr<Impl> CurrentImpl();
  std::mutex mutex_;
  std::shared_ptr<Impl> impl_;
};

}  // namespace davit::kit
