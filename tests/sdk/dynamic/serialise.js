// Prints the text that the Node.js SDK makes of the note provider, as it would send it in the property `__provider`.
//
//     node serialise.js NODE_MODULES FOLDER

const path = require("path");
const { noteProvider } = require("./note.js");

const [modules, folder] = process.argv.slice(2);
const { runtime } = require(path.join(modules, "@pulumi", "pulumi"));

const provider = noteProvider(folder);
runtime.serializeFunction(() => provider).then((found) => process.stdout.write(found.text));
