// Commands on plugins and packages.

#include "cli/command_table.h"

namespace davit {

using namespace flag_specs;

std::vector<CommandSpec> PluginCommands() {
  const FlagSpec reinstall = Switch("reinstall", 0, "also what is there already");
  const FlagSpec parallel =
      NoEffect("parallel", Kind::kNumber, "davit installs one plugin after the other");
  const FlagSpec server = Refused("server", Kind::kText);
  return {
      Group("plugin", "install, list and remove plugins"),
      {"plugin install",
       {},
       "[KIND NAME [VERSION]]",
       "install a plugin, or all that the project needs",
       0,
       3,
       {Value("server", 0, "URL", "where to download from: http(s), github or gitlab"),
        Value("file", 'f', "FILE", "install this archive, folder or executable"),
        Value("checksum", 0, "HEX", "the SHA-256 that the archive must have"),
        Switch("exact", 0, "this version and no equal one"),
        reinstall,
        parallel}},
      {"plugin ls",
       {"plugin list"},
       "",
       "list installed plugins",
       0,
       0,
       {Switch("project", 'p', "those that the project needs"),
        OutputOf("default|json", "`json`: a document"),
        Json()}},
      {"plugin rm",
       {"plugin remove", "plugin delete"},
       "[KIND [NAME [RANGE]]]",
       "remove installed plugins",
       0,
       3,
       {Switch("all", 'a', "every plugin"), Yes()}},
      {"install",
       {},
       "",
       "install the plugins that the project needs",
       0,
       0,
       {Switch("no-plugins", 0, "leave plugins out"),
        Switch("no-dependencies", 0, "do not speak of libraries"),
        reinstall,
        parallel,
        Refused("use-language-version-tools", Kind::kBool)}},
      Group("provider", "look at the providers of a stack"),
      {"provider ls",
       {"provider list"},
       "",
       "list the providers of the stack, and the plugins that serve them",
       0,
       0,
       {Stack(), Json()}},
      Group("package", "look at packages"),
      {"package get-schema",
       {},
       "SOURCE",
       "print the schema of a package: a plugin's name, name@version, or path",
       1,
       1000,
       {server, Refused("extension", Kind::kText)}},
      {"package info",
       {},
       "SOURCE",
       "tell what a package has",
       1,
       1000,
       {Value("module", 'm', "NAME", "what this module has"),
        Value("resource", 'r', "NAME", "the properties of a resource"),
        Value("function", 'f', "NAME", "the properties of a function"),
        server,
        Refused("extension", Kind::kText)}},
  };
}

}  // namespace davit
