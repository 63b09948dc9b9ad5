// pulumi-resource-davittest: a provider that misbehaves on demand.
//
// Environment
//   DAVITTEST_LOG             file that gets a line {"method", "request"} when a call begins
//   DAVITTEST_START_ERROR     text for stderr; the plugin then exits with status 3
//   DAVITTEST_START_DELAY_MS  time before the port line
//   DAVITTEST_PORT_LINE       text instead of the port line; the plugin then waits to be killed
//   DAVITTEST_FAULTS          `Method:fault,...`: faults of any RPC
// Faults
//   exit=N           the process exits with status N (1)
//   signal=N         the process dies of signal N (9)
//   hang             answers `cancelled` when the call is cancelled, by Cancel or by the caller
//   hang=forever     never answers
//   slow=MS          waits before the call is served
//   fail=N           answers gRPC code N (2)
//   garbage          answers bytes that are no message
// Resource `davittest:index:Thing` accepts any properties and returns them. Its `behave`, which is
// neither compared nor returned, may hold
//   fault            {Method: fault}, outside of previews
//   partial          {"Create" | "Update" | "Read": [reason, ...]}: done but not ready
//   bytes, levels    output `huge` of so many bytes, output `deep` of so many nested objects
//   computed         {key: value}: outputs that are unknown in a preview
//   secret, drop     [key, ...]: outputs that are secret, or left out
//   replace          [key, ...]: inputs whose change replaces; deleteFirst: true before the
//   creation badInputs        {key: reason}: Check fails gone, drift      true: Read finds nothing;
//   {key: value}: Read finds these id, refreshFirst, log    the id; a refresh before the next
//   update; a warning to show
// Function `davittest:index:echo` returns its argument `value`.

#include "providers/kit/provider.h"
#include "tests/wire/davittest/faults.h"
#include "tests/wire/davittest/thing.h"

namespace {

davit::kit::Function MakeEcho() {
  davit::kit::Function echo;
  echo.schema.token = "davittest:index:echo";
  echo.schema.inputs = {{.name = "value"}, {.name = "behave"}};
  echo.schema.outputs = {{.name = "value"}};
  echo.run = [](const davit::InvokeRequest& request,
                davit::kit::CallContext&) -> davit::Result<davit::InvokeResponse> {
    davit::InvokeResponse response;
    response.result = request.args;
    response.result.erase("behave");
    return response;
  };
  return echo;
}

}  // namespace

int main(int argc, char** argv) {
  davit::davittest::DisturbStart();
  davit::kit::ProviderPackage package;
  package.name = "davittest";
  package.version = "1.2.3";
  package.config = {{.name = "region", .replace_on_changes = true},
                    {.name = "token", .type = davit::kit::SchemaType::String(), .secret = true}};
  package.resources = {davit::davittest::MakeThing()};
  package.functions = {MakeEcho()};
  package.intercept = davit::davittest::Intercept;
  return davit::kit::Serve(std::move(package), argc, argv);
}
