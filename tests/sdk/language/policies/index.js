"use strict";
// A policy pack written with the official SDK: one policy that forbids, one that corrects, one about the whole stack.
const policy = require("@pulumi/policy");

const isFile = (resource) => resource.type === "localhost:index:File";

new policy.PolicyPack("files", {
    policies: [
        {
            name: "no-forbidden-word",
            description: "No file says the forbidden word.",
            enforcementLevel: "mandatory",
            configSchema: { properties: { word: { type: "string", default: "forbidden" } } },
            validateResource: (args, reportViolation) => {
                const { word } = args.getConfig();
                if (isFile(args) && args.props.content.includes(word)) {
                    reportViolation(`${args.name} says '${word}'`);
                }
            },
        },
        {
            name: "ends-its-line",
            description: "Every file ends with a line break.",
            enforcementLevel: "remediate",
            remediateResource: (args) => {
                if (isFile(args) && !args.props.content.endsWith("\n")) {
                    return { ...args.props, content: args.props.content + "\n" };
                }
            },
        },
        {
            name: "few-files",
            description: "A stack has one file.",
            enforcementLevel: "advisory",
            validateStack: (args, reportViolation) => {
                const files = args.resources.filter(isFile);
                if (files.length > 1) {
                    reportViolation(`there are ${files.length} files`);
                }
            },
        },
    ],
});
