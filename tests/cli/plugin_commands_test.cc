// `davit plugin ...`, `install`, `provider` and `package`, with a server of our own on this
// machine.

#include <algorithm>
#include <fstream>
#include <sstream>

#include "engine/base/digest.h"
#include "tests/cli/project.h"

namespace davit {
namespace {

#if defined(__aarch64__)
constexpr const char* kArchitecture = "arm64";
#else
constexpr const char* kArchitecture = "amd64";
#endif

std::string Asset(const std::string& version) {
  return "pulumi-resource-sample-v" + version + "-linux-" + kArchitecture + ".tar.gz";
}

// A project, and an HTTP server over its folder `served` that knows ranges and notes requests.
class PluginProject : public Project {
 public:
  explicit PluginProject(const std::string& name, const std::string& text = "outputs: {o: 1}\n")
      : Project(name, text) {
    fs::create_directories(Path("served"));
    fs::create_directories(Path("tree"));
    Write("tree/pulumi-resource-sample", "#!/bin/sh\nexit 3\n");
    Write("tree/note", std::string(5000, 'n'));
    fs::permissions(Path("tree/pulumi-resource-sample"), fs::perms(0755));
    Pack("served/" + Asset("1.2.3"), "*");
  }
  ~PluginProject() {
    if (server_ != nullptr) {
      pclose(server_);  // its standard input ends, and so does it
    }
  }

  void Pack(const std::string& archive, const std::string& what) const {
    const std::string line =
        "cd '" + Path("tree") + "' && tar -czf '" + Path(archive) + "' " + what;
    REQUIRE(std::system(line.c_str()) == 0);
  }
  std::string Serve() {
    Write("server.py", R"(import http.server, os, sys, threading
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path = 'served' + self.path
        begin = int(self.headers.get('Range', 'bytes=0-')[6:].split('-')[0])
        with open('requests', 'a') as log:
            log.write(f'{self.path} from {begin}\n')
        if self.path.startswith('/flaky') and not os.path.exists('failed'):
            open('failed', 'w').close()
            return self.send_error(503)
        path = path.replace('/flaky', '')
        if not os.path.exists(path):
            return self.send_error(404)
        data = open(path, 'rb').read()[begin:]
        self.send_response(206 if begin else 200)
        if begin:
            self.send_header('Content-Range', f'bytes {begin}-{begin + len(data) - 1}/{begin + len(data)}')
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def log_message(self, *args):
        pass
server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
with open('port.new', 'w') as out:
    out.write(str(server.server_port))
os.rename('port.new', 'port')
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0))).start()
server.serve_forever()
)");
    REQUIRE(std::system(("mkfifo '" + Path("port.ready") + "'").c_str()) == 0);
    const std::string line = "cd '" + Path("") + "' && python3 server.py";
    server_ = popen(line.c_str(), "w");
    REQUIRE(server_ != nullptr);
    const std::string wait = "until [ -e '" + Path("port") + "' ]; do read -t 0.01 _ <> '" +
                             Path("port.ready") + "'; done; exit 0";
    REQUIRE(std::system(("bash -c \"" + wait + "\"").c_str()) == 0);
    return "http://127.0.0.1:" + Read("port");
  }
  std::string Plugins(const std::string& name) const { return Path("home/plugins/" + name); }

 private:
  FILE* server_ = nullptr;
};

std::string DigestOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return Sha256Hex(bytes.str());
}

TEST_CASE("[C60][C61][C75][P3][P4][P19][P20] a plugin from a file, its list and its end") {
  const PluginProject project("plugin-file");
  const auto refused = [&](const std::string& words) {
    const Ran ran = project("plugin " + words);
    CHECK(ran.status == 1);
    return ran.err;
  };
  CHECK(Has(refused("install foo x 1.0.0"), "unrecognized plugin kind: foo"));
  CHECK(Has(refused("install resource"), "missing plugin name"));
  CHECK(Has(refused("install resource sample --file tree"), "missing plugin version"));
  CHECK(Has(refused("install resource sample 1.0.0 --file none"), "there is no file"));
  CHECK(Has(refused("install resource sample 1.x --file tree"), "version '1.x'"));
  CHECK(Has(refused("install resource sample 1.0.0 --checksum zz"), "not a value for --checksum"));
  CHECK(Has(refused("install language nodejs"), "comes with a distribution"));
  CHECK(Has(refused("install --file tree"), "only for a plugin that is named"));
  CHECK(Has(refused("install resource sample@1.0.0 2.0.0"), "both in the name"));
  CHECK(Has(refused("rm"), "--all"));
  CHECK(Has(refused("rm foo"), "unrecognized plugin kind"));

  CHECK(project("plugin install resource sample 1.0.0 --file tree").err ==
        "[resource plugin sample-1.0.0] installing\n");
  CHECK(project("plugin install resource sample 1.0.0 --file none").err.empty());
  project.Ok("plugin install resource sample v1.1.0 --file tree/pulumi-resource-sample");
  project.Ok("plugin install resource sample 1.2.3 --file served/" + Asset("1.2.3"));
  CHECK(fs::exists(project.Plugins("resource-sample-v1.2.3/note")));
  CHECK(fs::exists(project.Plugins("resource-sample-v1.2.3.lock")));
  CHECK_FALSE(fs::exists(project.Plugins("resource-sample-v1.2.3.partial")));
  const auto owner = fs::status(project.Plugins("resource-sample-v1.1.0/pulumi-resource-sample"));
  CHECK((owner.permissions() & fs::perms::owner_exec) == fs::perms::owner_exec);
  const std::string list = project("plugin ls").out;
  CHECK(list.find("NAME    KIND      VERSION  SIZE") == 0);
  CHECK(list.find("1.2.3") < list.find("1.1.0"));
  CHECK(list.find("1.1.0") < list.find("1.0.0"));
  CHECK(Has(list, "5.0 kB"));
  CHECK(Has(list, "\nTOTAL plugin cache size: 10 kB\n"));
  const std::string json = project("plugin ls --json").out;
  INFO(json);
  CHECK(Has(json,
            "    \"name\": \"sample\",\n    \"kind\": \"resource\",\n    \"version\": \"1.2.3\","
            "\n    \"size\": 5017,\n    \"installTime\": \""));

  // Half an installation is none, and is made whole without a word (B085).
  project.Write("home/plugins/resource-sample-v1.1.0.partial", "");
  CHECK_FALSE(Has(project("plugin ls").out, "1.1.0"));
  CHECK(Has(project("plugin install resource sample 1.1.0 --file tree").err, "installing"));
  CHECK(Has(project("plugin ls").out, "1.1.0"));

  CHECK(Has(project("plugin rm resource sample").err, "This will remove 3 plugins"));
  CHECK(project("plugin rm resource sample '>=1.0.0 <1.2.0' --yes").out ==
        "removed: resource sample-1.1.0\nremoved: resource sample-1.0.0\n");
  CHECK(project("plugin rm resource other --yes").out == "no plugins found to uninstall\n");
  CHECK(project("plugin rm --all --yes").out == "removed: resource sample-1.2.3\n");
  CHECK(fs::is_empty(project.Plugins("")));
  CHECK(project("plugin ls --json").out == "[]\n");
}

TEST_CASE("[B085][P14][P15][P16][P17] a plugin from a server") {
  PluginProject project("plugin-server");
  const std::string server = project.Serve();
  const std::string words = "plugin install resource sample 1.2.3 --server " + server;
  const Ran wrong = project(words + " --checksum " + std::string(64, 'a'));
  CHECK(wrong.status == 1);
  CHECK(Has(wrong.err, "the archive has the SHA-256"));
  CHECK_FALSE(fs::exists(project.Plugins("resource-sample-v1.2.3")));
  CHECK_FALSE(fs::exists(project.Plugins("resource-sample-v1.2.3.download")));

  // A download that was interrupted goes on where it was.
  const std::string archive = project.Path("served/" + Asset("1.2.3"));
  const std::string partial = project.Plugins("resource-sample-v1.2.3.download");
  fs::copy_file(archive, partial);
  fs::resize_file(partial, 40);
  const Ran done = project(words + " --checksum " + DigestOf(archive));
  INFO(done.err);
  CHECK(done.status == 0);
  CHECK(Has(project.Read("requests"), "/" + Asset("1.2.3") + " from 40\n"));
  CHECK(fs::exists(project.Plugins("resource-sample-v1.2.3/note")));
  CHECK_FALSE(fs::exists(partial));

  const std::string before = project.Read("requests");
  project.Ok(words);
  CHECK(project.Read("requests") == before);
  project.Ok(words + " --reinstall");
  CHECK(project.Read("requests") != before);

  const Ran absent = project("plugin install resource sample 9.9.9 --server " + server);
  CHECK(absent.status == 1);
  CHECK(Has(absent.err, "there is no '" + server + "/" + Asset("9.9.9") + "'"));
  const std::string requests = project.Read("requests");
  CHECK(requests.find("9.9.9") == requests.rfind("9.9.9"));  // asked once
  project.Ok(words + "/flaky --reinstall");                  // the first answer is 503
  const Ran mirrored =
      project("plugin install resource sample 1.2.3 --reinstall --server 'http://x.invalid/flaky'",
              "golden",
              "PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES='^http://x.invalid/(.*)$=" + server + "/$1'");
  CHECK(mirrored.status == 0);

  // Two at the same time: both succeed, and what is there is whole.
  const std::string both = "( cd '" + project.Path("") + "'; for i in 1 2; do PULUMI_HOME='" +
                           project.Path("home") + "' '" DAVIT_BINARY_DIR "/davit' " + words +
                           " --reinstall 2>/dev/null & done; wait )";
  CHECK(std::system(both.c_str()) == 0);
  CHECK(fs::exists(project.Plugins("resource-sample-v1.2.3/note")));
  CHECK_FALSE(fs::exists(project.Plugins("resource-sample-v1.2.3.partial")));
}

TEST_CASE("[P17][C60] without a network the message says what to do") {
  const PluginProject project("plugin-offline");
  const Ran ran = project("plugin install resource sample 1.0.0 --server http://127.0.0.1:1");
  CHECK(ran.status == 1);
  CHECK(Has(ran.err, "cannot be downloaded: "));
  CHECK(Has(ran.err, "use --file"));
  CHECK(Has(project("plugin install resource sample 1.0.0 --server git://x/y").err,
            "cannot download plugins from 'git://x/y'"));
  CHECK(Has(project("plugin install resource sample --server http://127.0.0.1:1").err,
            "give a version"));
}

TEST_CASE("[P18] archives that are damaged, or would write elsewhere") {
  const PluginProject project("plugin-archives");
  const auto refused = [&](const std::string& archive) {
    const Ran ran = project("plugin install resource sample 2.0.0 --file " + archive);
    CHECK(ran.status == 1);
    CHECK_FALSE(fs::exists(project.Plugins("resource-sample-v2.0.0")));
    return ran.err;
  };
  fs::copy_file(project.Path("served/" + Asset("1.2.3")), project.Path("cut.tar.gz"));
  fs::resize_file(project.Path("cut.tar.gz"), 60);
  CHECK(Has(refused("cut.tar.gz"), "cannot be unpacked"));
  project.Write("outside", "x");
  project.Pack("up.tar.gz", "-P ../outside");
  CHECK(Has(refused("up.tar.gz"), "outside of the folder"));
  fs::create_symlink("/etc/passwd", project.Path("tree/link"));
  project.Pack("link.tar.gz", "link");
  CHECK(Has(refused("link.tar.gz"), "points outside"));
  fs::remove(project.Path("tree/link"));
  // Each link points inside by its text; together they lead out.
  const std::string steps =
      "cd '" + project.Path("tree") +
      "' && mkdir -p a/b && ln -s ../.. a/b/top && tar -cf ../steps.tar a/b/top"
      " && rm a/b/top && mkdir a/b/top && ln -s ../../../far a/b/top/out"
      " && tar -rf ../steps.tar a/b/top/out && rm -r a && gzip ../steps.tar";
  REQUIRE(std::system(steps.c_str()) == 0);
  CHECK(Has(refused("steps.tar.gz"), "cannot be unpacked"));
  fs::create_symlink("pulumi-resource-sample", project.Path("tree/link"));
  const std::string deep = "deep/" + std::string(90, 'd') + "/" + std::string(90, 'e');
  fs::create_directories(project.Path("tree/" + deep));
  project.Write("tree/" + deep + "/file", "long name");
  project.Pack("good.tar.gz", ".");
  project.Ok("plugin install resource sample 2.0.0 --file good.tar.gz");
  CHECK(project.Read("home/plugins/resource-sample-v2.0.0/" + deep + "/file") == "long name");
  CHECK(fs::is_symlink(project.Plugins("resource-sample-v2.0.0/link")));
}

TEST_CASE("[C62][P117] install fetches what the program needs and nothing else") {
  PluginProject project(
      "plugin-project",
      "plugins:\n  providers:\n    - name: davittest\n      path: " DAVIT_BINARY_DIR
      "/tests/plugins\n"
      "resources:\n  a: {type: 'davittest:index:Thing', properties: {value: 1}}\n");
  const std::string server = project.Serve();
  project.Ok("install");
  CHECK(project("plugin ls --json").out == "[]\n");
  project.Write("Pulumi.yaml",
                project.Read("Pulumi.yaml") +
                    "  s:\n    type: sample:index:Thing\n    options: {version: 1.2.3, "
                    "pluginDownloadURL: '" +
                    server + "'}\n");
  const Ran installed = project("install");
  INFO(installed.err);
  CHECK(installed.status == 0);
  CHECK(Has(installed.err, "[resource plugin sample-1.2.3] installing\n"));
  CHECK(Has(project("plugin ls --project").out, "1.2.3"));
  project.Ok("plugin install");
}

TEST_CASE("[C63][C64] the schema of a package, and what it tells") {
  const Project project("package");
  project.Write("schema.json", R"({"name": "sample", "version": "1.0.0", "resources": {
    "sample:index:Thing": {"description": "A thing.\nMore.", "requiredInputs": ["size"],
      "inputProperties": {"size": {"type": "integer"}, "tags": {"type": "object",
        "additionalProperties": {"type": "string"}}},
      "properties": {"size": {"type": "integer"}}},
    "sample:net/port:Port": {}}, "functions": {"sample:index:find": {"inputs": {"properties":
      {"name": {"type": "string"}}, "required": ["name"]}}}})");
  CHECK(project("package info schema.json -m index").out ==
        "Name: sample\nModule: index\nVersion: 1.0.0\nDescription: \nResources: 1\n\n"
        " - Thing: A thing.\n\nFunctions: 1\n\n - find: \n");
  CHECK(Has(project("package info schema.json").out, " - net: 1 resources, 0 functions\n"));
  CHECK(
      project("package info schema.json -r Thing").out ==
      "Resource: sample:index:Thing\nA thing.\n\nInputs:\n - size* (integer)\n - tags (Map<string>)"
      "\n\nOutputs:\n - size (integer)\n\n* must be given\n");
  CHECK(Has(project("package info schema.json -f find").out, " - name* (string)\n"));
  CHECK(project("package info schema.json -r No").err == "error: resource \"No\" not found\n");
  CHECK(project("package info schema.json -m no").err == "error: module \"no\" not found\n");
  CHECK(Has(project("package get-schema schema.json").out, "{\n  \"name\": \"sample\",\n"));
  CHECK(project("package get-schema none.json").status == 1);
  CHECK(Has(project("package get-schema ./none").err, "there is no '"));
  CHECK(Has(project("package get-schema nosuchplugin").err, "nosuchplugin"));
  const Ran schema = project("package get-schema " DAVIT_BINARY_DIR "/pulumi-resource-localhost");
  INFO(schema.err);
  CHECK(Has(schema.out, "  \"name\": \"localhost\","));
  fs::remove(project.Path("Pulumi.yaml"));
  CHECK(project("package get-schema " DAVIT_BINARY_DIR "/pulumi-resource-localhost").out ==
        schema.out);
}

TEST_CASE("[P46] the providers of a stack") {
  const Project project(
      "provider-ls",
      "plugins:\n  providers:\n    - name: davittest\n      path: " DAVIT_BINARY_DIR
      "/tests/plugins\n"
      "resources:\n  a: {type: 'davittest:index:Thing', properties: {value: 1}}\n");
  project.Ok("stack init dev");
  project.Ok("up --yes --skip-preview");
  const Ran list = project("provider ls");
  CHECK(list.out.find("PACKAGE    NAME     VERSION  PLUGIN\ndavittest  default") == 0);
  CHECK(Has(list.out, DAVIT_BINARY_DIR "/tests/plugins/pulumi-resource-davittest"));
  CHECK(Has(project("provider ls --json").out, "\"package\": \"davittest\""));
}

}  // namespace
}  // namespace davit
