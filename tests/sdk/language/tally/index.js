"use strict";
// A component over the provider server of the Node.js SDK; it keeps a Stash for each of its marks.
const pulumi = require("@pulumi/pulumi");

class Tally extends pulumi.ComponentResource {
    constructor(name, inputs, options) {
        super("tally:index:Tally", name, {}, options);
        this.count = pulumi.output(inputs.marks).apply((marks) => marks.length);
        this.first = new pulumi.Stash(`${name}-first`, { input: pulumi.output(inputs.marks).apply((marks) => marks[0]) },
            { parent: this }).output;
        this.registerOutputs({ count: this.count, first: this.first });
    }
}

const provider = {
    version: "0.2.0",
    async construct(name, type, inputs, options) {
        if (type !== "tally:index:Tally") {
            throw new Error(`there is no ${type}`);
        }
        const tally = new Tally(name, inputs, options);
        return { urn: tally.urn, state: { count: tally.count, first: tally.first } };
    },
    async getSchema() {
        return JSON.stringify({
            name: "tally", version: "0.2.0",
            resources: { "tally:index:Tally": {
                isComponent: true,
                inputProperties: { marks: { type: "array", items: { type: "string" } } }, requiredInputs: ["marks"],
                properties: { count: { type: "integer" }, first: { type: "string" } },
            } },
        });
    },
};

pulumi.provider.main(provider, process.argv.slice(2));
