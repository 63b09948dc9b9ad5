#include "engine/plan/provider_inputs.h"

#include <catch2/catch.hpp>

namespace davit {

TEST_CASE("[E172] names of default providers") {
  PackageDescriptor package;
  package.name = "test";
  CHECK(DefaultProviderName(package) == "default");
  package.version = "1.2.3-alpha.1";
  CHECK(DefaultProviderName(package) == "default_1_2_3_alpha_1");
  package.version.clear();
  package.download_url = "https://plugins.example.org/some//where";
  CHECK(DefaultProviderName(package) == "default_https_/plugins.example.org/some/where");
  package.parameterization = Parameterization{"other", "9.0.0", "v"};
  package.version = "1.0.0";
  package.download_url.clear();
  CHECK(DefaultProviderName(package) == "default_9_0_0");
}

TEST_CASE("[E165] package data goes into the inputs and comes back") {
  PackageDescriptor package;
  package.name = "test";
  package.version = "1.0.0";
  package.download_url = "https://example.org";
  package.checksums["linux-amd64"] = "ab";
  PropertyMap inputs = WithPackage({{"region", "north"}}, package, {{"NEW", "OLD"}});
  CHECK(*inputs.at("version").as_string() == "1.0.0");
  CHECK(inputs.at("__internal").as_map()->contains("pluginDownloadURL"));
  CHECK(WithoutInternal(inputs).size() == 2);
  const Result<PluginSpec> spec = PluginOf("test", inputs);
  REQUIRE(spec);
  CHECK(spec->name == "test");
  CHECK(spec->version == "1.0.0");
  CHECK(spec->download_url == "https://example.org");
  CHECK(spec->checksums.at("linux-amd64") == "ab");
  CHECK(spec->env_var_mappings.at("NEW") == "OLD");
}

TEST_CASE("[E165] a version alone still makes an empty __internal") {
  PackageDescriptor package;
  package.name = "test";
  CHECK(WithPackage({}, package, {}).empty());
  package.version = "1.0.0";
  CHECK(WithPackage({}, package, {}).at("__internal").as_map()->empty());
}

TEST_CASE("[E165] parameterized packages keep both versions") {
  PackageDescriptor package;
  package.name = "bridge";
  package.version = "3.0.0";
  package.parameterization = Parameterization{"random", "2.1.0", std::string("\0value", 6)};
  const PropertyMap inputs = WithPackage({}, package, {});
  CHECK(*inputs.at("version").as_string() == "2.1.0");
  const Result<PluginSpec> spec = PluginOf("random", inputs);
  REQUIRE(spec);
  CHECK(spec->name == "bridge");
  CHECK(spec->version == "3.0.0");
  REQUIRE(spec->parameterization);
  CHECK(spec->parameterization->name == "random");
  CHECK(spec->parameterization->version == "2.1.0");
  CHECK(spec->parameterization->value == std::string("\0value", 6));
}

TEST_CASE("[P46] old states keep the keys at the top level") {
  const Result<PluginSpec> spec =
      PluginOf("test", {{"version", "1.0.0"}, {"pluginDownloadURL", "https://example.org"}});
  REQUIRE(spec);
  CHECK(spec->version == "1.0.0");
  CHECK(spec->download_url == "https://example.org");
}

TEST_CASE("[E172] a default provider gets its package's configuration, secrets stay secret") {
  std::map<std::string, ConfigValue> config;
  config["test:token"] = ConfigValue{"hush", true, false};
  config["test:region"] = ConfigValue{"north", false, false};
  config["other:region"] = ConfigValue{"south", false, false};
  const PropertyMap inputs = DefaultProviderConfig("test", config);
  CHECK(inputs.size() == 2);
  CHECK(inputs.at("token").is_secret());
  CHECK(*inputs.at("region").as_string() == "north");
  CHECK(DefaultProviderConfig("pulumi-nodejs", config).contains("other:region"));
}

TEST_CASE("[E173] default providers can be denied") {
  std::map<std::string, ConfigValue> config;
  const auto denied = [&](const char* text) {
    config["pulumi:disable-default-providers"] = ConfigValue{text, false, true};
    return IsDefaultProviderDenied("test", config);
  };
  CHECK_FALSE(*IsDefaultProviderDenied("test", {}));
  CHECK_FALSE(*denied(""));
  CHECK(*denied(R"(["other", "test"])"));
  CHECK_FALSE(*denied(R"(["other"])"));
  CHECK(*denied(R"(["*"])"));
  CHECK_FALSE(denied("test").has_value());
  config["pulumi:disable-default-providers"] = ConfigValue{R"(["*"])", false, true};
  CHECK_FALSE(*IsDefaultProviderDenied("pulumi", config));
}

}  // namespace davit
