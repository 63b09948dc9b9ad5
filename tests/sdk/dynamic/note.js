// A dynamic provider that keeps notes as files in a folder, one JSON document each. It is serialised by serialise.js and
// carried in a program as text; what it needs it loads inside its methods.

/** @param folder where the notes are */
exports.noteProvider = (folder) => ({
  async check(olds, news) {
    const failures = [];
    if (typeof news.title !== "string" || news.title === "") {
      failures.push({ property: "title", reason: "a note needs a title" });
    }
    return { inputs: { author: "nobody", ...news }, failures };
  },

  async diff(id, olds, news) {
    const changed = ["title", "text", "author"].filter((key) => olds[key] !== news[key]);
    return {
      changes: changed.length > 0,
      replaces: changed.filter((key) => key === "title"),
      deleteBeforeReplace: news.single === true,
    };
  },

  async create(inputs) {
    const fs = require("fs");
    const path = require("path");
    const id = `${inputs.title}-${require("crypto").randomBytes(4).toString("hex")}`;
    const outs = { title: inputs.title, text: inputs.text, author: inputs.author, single: inputs.single === true, revision: 1 };
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, `${id}.json`), JSON.stringify(outs));
    return { id, outs };
  },

  async read(id, props) {
    const fs = require("fs");
    const file = require("path").join(folder, `${id}.json`);
    if (!fs.existsSync(file)) {
      return { id: "", props: {} };
    }
    const found = JSON.parse(fs.readFileSync(file, "utf8"));
    const { revision, ...inputs } = { ...props, ...found };
    return { id, props: { revision, ...inputs }, inputs };
  },

  async update(id, olds, news) {
    const fs = require("fs");
    const file = require("path").join(folder, `${id}.json`);
    const before = JSON.parse(fs.readFileSync(file, "utf8"));
    if (news.text === "refused") {
      throw new Error("this text is refused");
    }
    const outs = { ...before, text: news.text, author: news.author, revision: before.revision + 1 };
    fs.writeFileSync(file, JSON.stringify(outs));
    return { outs };
  },

  async delete(id) {
    require("fs").unlinkSync(require("path").join(folder, `${id}.json`));
  },
});
