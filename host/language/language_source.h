#pragma once
// A program that a language host runs, as a Source (P112-P118). Engine thread.

#include <memory>
#include <string>

#include "host/language/language_host.h"
#include "host/plugin/plugin_host.h"
#include "host/server/monitor_server.h"

namespace davit {

struct LanguageProgram {
  GrpcPluginHost* plugins = nullptr;  ///< starts the host
  MonitorServerOptions monitor;       ///< without what belongs to a run
  std::string runtime;
  ProgramInfo info;
  std::string loader_target;
};

/// The program can be run more than once, one run after the other.
std::unique_ptr<Source> MakeLanguageSource(LanguageProgram program);

}  // namespace davit
