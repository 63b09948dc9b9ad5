// pulumi-resource-localhost: files, directories and commands on this machine.

#include "providers/localhost/resources.h"

int main(int argc, char** argv) {
  davit::kit::ProviderPackage package;
  package.name = "localhost";
  package.version = "0.1.0";
  package.description = "Files, directories and commands on the machine that runs the deployment.";
  package.resources = {davit::localhost::MakeFileResource(),
                       davit::localhost::MakeDirectoryResource(),
                       davit::localhost::MakeCommandResource()};
  package.functions = {davit::localhost::MakeReadFileFunction()};
  return davit::kit::Serve(std::move(package), argc, argv);
}
