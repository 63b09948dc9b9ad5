"""A scripted policy pack; its folder has PulumiPolicy.yaml (`runtime: testbed`) and policies.json, an object of

  info       fields of AnalyzerInfo
  analyze    {resource name: [AnalyzeDiagnostic, ...]}; `if` in one, {key: value}, lets it speak only of such inputs
  remediate  {resource name: [Remediation, ...]}; `set` in one overlays these keys on the inputs, `unset` removes keys
  stack      [AnalyzeDiagnostic, ...], of AnalyzeStack
  fail       {"Analyze" | "AnalyzeStack" | "Remediate" | "Configure" | "ConfigureStack": message}
  lacks      [method, ...] that are unimplemented

Names of pack and version are those of `info` where a diagnostic has none. Calls are logged like those of the provider, as
`Policy.<method>`.
"""

import json
import os
import signal
import time
from concurrent import futures

import grpc
from google.protobuf import empty_pb2, json_format
from testbed import LIMIT, log, plain, to_dict, to_struct

from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc, plugin_pb2


class Pack(analyzer_pb2_grpc.AnalyzerServicer):
    def __init__(self, script):
        self.script = script
        self.info = json_format.ParseDict(script.get("info", {}), analyzer_pb2.AnalyzerInfo())

    def _serve(self, rpc, request, context, handler):
        if rpc in self.script.get("lacks", []):
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "not here")
        message = self.script.get("fail", {}).get(rpc)
        if message:
            log("Policy." + rpc, request, error={"code": "UNKNOWN", "message": message})
            context.abort(grpc.StatusCode.UNKNOWN, message)
        response = handler(request)
        log("Policy." + rpc, request, response=response)
        return response

    def _pack(self, fields):
        return {"policyPackName": self.info.name, "policyPackVersion": self.info.version, **fields}

    def _diagnostics(self, entries, inputs=None):
        found = []
        for entry in entries:
            wanted = entry.get("if", {})
            if all((inputs or {}).get(key) == value for key, value in wanted.items()):
                found.append(self._pack({key: value for key, value in entry.items() if key != "if"}))
        return json_format.ParseDict({"diagnostics": found}, analyzer_pb2.AnalyzeResponse())

    def Handshake(self, request, context):
        return analyzer_pb2.AnalyzerHandshakeResponse()

    def GetPluginInfo(self, request, context):
        return plugin_pb2.PluginInfo(version="1.0.0")

    def Cancel(self, request, context):
        return empty_pb2.Empty()

    def GetAnalyzerInfo(self, request, context):
        return self.info

    def ConfigureStack(self, request, context):
        return self._serve("ConfigureStack", request, context,
                           lambda r: analyzer_pb2.AnalyzerStackConfigureResponse())

    def Configure(self, request, context):
        return self._serve("Configure", request, context, lambda r: empty_pb2.Empty())

    def Analyze(self, request, context):
        return self._serve("Analyze", request, context, lambda r: self._diagnostics(
            self.script.get("analyze", {}).get(r.name, []), plain(to_dict(r.properties))))

    def AnalyzeStack(self, request, context):
        def handler(_):
            return self._diagnostics(self.script.get("stack", []))
        for found in request.resources:
            found.dependencies.sort()
        ordered = analyzer_pb2.AnalyzeStackRequest(resources=sorted(request.resources, key=lambda found: found.urn))
        return self._serve("AnalyzeStack", ordered, context, handler)

    def Remediate(self, request, context):
        def handler(found):
            response = analyzer_pb2.RemediateResponse()
            inputs = to_dict(found.properties)
            for entry in self.script.get("remediate", {}).get(found.name, []):
                inputs = {key: value for key, value in {**inputs, **entry.get("set", {})}.items()
                          if key not in entry.get("unset", [])}
                fields = {key: value for key, value in entry.items() if key not in ("set", "unset")}
                one = json_format.ParseDict(self._pack(fields), response.remediations.add())
                one.properties.CopyFrom(to_struct(inputs))
            return response
        return self._serve("Remediate", request, context, handler)


def main():
    with open("policies.json", encoding="utf-8") as source:
        pack = Pack(json.load(source))
    server = grpc.server(futures.ThreadPoolExecutor(8), options=[("grpc.max_receive_message_length", LIMIT)])
    analyzer_pb2_grpc.add_AnalyzerServicer_to_server(pack, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    signal.signal(signal.SIGINT, lambda *_: os._exit(0))
    parent = os.getppid()
    while os.getppid() == parent:  # an engine that was killed must not leave the pack behind
        time.sleep(1)
    os._exit(0)


if __name__ == "__main__":
    main()
