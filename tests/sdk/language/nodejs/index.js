"use strict";
// A component with children, a dynamic resource, a secret, a transform, hooks, an alias, a component of a plugin behind an
// explicit provider, and a reference to this very stack.
const fs = require("fs");
const pulumi = require("@pulumi/pulumi");

const config = new pulumi.Config();
const phrase = config.requireSecret("phrase");

class Greeting extends pulumi.dynamic.Resource {
    constructor(name, args, options) {
        super({
            async diff(id, olds, news) {
                return { changes: olds.text !== news.text, replaces: [] };
            },
            async create(inputs) {
                return { id: `greeting-of-${inputs.text.length}`, outs: { ...inputs, length: inputs.text.length } };
            },
            async update(id, olds, news) {
                return { outs: { ...news, length: news.text.length } };
            },
        }, name, { length: undefined, ...args }, options);
    }
}

class Reception extends pulumi.ComponentResource {
    constructor(name, args, options) {
        super("davit:test:Reception", name, {}, options);
        this.greeting = new Greeting(`${name}-greeting`, { text: args.text }, { parent: this });
        new pulumi.Stash(`${name}-card`, { input: phrase }, { parent: this, dependsOn: this.greeting });
        this.length = this.greeting.length;
        this.registerOutputs({ length: this.length });
    }
}

class Badge extends pulumi.ComponentResource {
    constructor(name, args, options) {
        super("badge:index:Badge", name, { label: undefined, code: undefined, ...args }, options, true);
    }
}

const hook = new pulumi.ResourceHook("note", async (args) =>
    fs.appendFileSync(config.require("notes"), `${args.name} ${args.newInputs ? "made" : "gone"}\n`));
pulumi.runtime.registerResourceTransform(async ({ type, name, props, opts }) =>
    name === "marked" ? { props: { ...props, input: `${props.input} transformed` }, opts } : undefined);

const marked = new pulumi.Stash("marked", { input: "a value" });
if (config.getBoolean("hooked")) {
    new pulumi.Stash("hooked", { input: 1 }, { hooks: { afterCreate: [hook], afterDelete: [hook] } });
}
const renamed = config.get("renamed");
const old = new pulumi.Stash(renamed || "before", { input: 2 }, { aliases: [{ name: "before" }] });
const reception = new Reception("reception", { text: config.require("text") });
const provider = new pulumi.ProviderResource("badge", "badges", {});
const badge = new Badge("visitor", { owner: "Ada", pin: phrase }, { providers: [provider] });
const before = new pulumi.StackReference(`organization/${pulumi.getProject()}/${pulumi.getStack()}`);
console.log("the program has been evaluated");

module.exports = {
    length: reception.length,
    marked: marked.output,
    old: old.urn,
    label: badge.label,
    code: badge.code,
    before: before.getOutput("length").apply((found) => found || 0),
    preview: pulumi.runtime.isDryRun(),
};
