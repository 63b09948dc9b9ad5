"""Random histories for tests/parity/differential: programs, edits, failures, drift and the commands that are run over them.

A history is {"host": "script" | "yaml", "steps": [...]}. Its steps are those of a scenario, but "program" is a list of
resources here: {"name", "type"?, "parent"?, "needs"?, "inputs"?, "options"?, "read"?} in the form of the testbed's
scripts ("@name.output"; `needs` are names that it depends on beside). Each names only what stands before it.
"""

import copy
import json

THING, OTHER, GROUP = "testbed:index:Thing", "testbed:index:Other", "testbed:index:Group"
BOX, PROVIDER = "my:index:Box", "pulumi:providers:testbed"
STEM = "urn:pulumi:dev::golden::"
NAMES = "abcdefgh"
KEYS = ("value", "text", "list", "map", "note", "extra")
REFERENCES = ("deletedWith", "replaceWith", "dependencies", "provider", "aliases")

# What can be left out, or asked for alone.
FEATURES = ("failures", "behaviour", "secrets", "components", "providers", "reads", "renames", "imports", "delete-first",
            "replace-options", "deleted-with", "protect", "ignore", "drift", "targets", "excludes", "replace", "refresh",
            "destroy", "run-program", "continue", "state", "preview", "misc", "yaml")


# --- programs

def names_in(value):
    """The names that a value of a program refers to."""
    if isinstance(value, str):
        return {value[1:].partition(".")[0]} if value.startswith("@") else set()
    if isinstance(value, dict):
        return set().union(*map(names_in, value.values()))
    return set().union(*map(names_in, value)) if isinstance(value, list) else set()


def cut(value, known):
    """The value without references to what is not known."""
    if isinstance(value, dict):
        return {key: cut(item, known) for key, item in value.items()}
    if isinstance(value, list):
        return [cut(item, known) for item in value]
    return 0 if names_in(value) - known else value


def legal(program):
    """The program with every reference to what does not stand before it taken out."""
    known, result = set(), []
    for item in program:
        item = copy.deepcopy(item)
        if item["name"] in known:
            continue
        if names_in(item.get("parent", "")) - known:
            del item["parent"]
        item["needs"] = [name for name in item.get("needs", []) if name in known]
        item["inputs"] = cut(item.get("inputs", {}), known)
        if "read" in item and names_in(item["read"]) - known:
            del item["read"]
        options = item.setdefault("options", {})
        for key in [key for key in options if key in REFERENCES and names_in(options[key]) - known]:
            if isinstance(options[key], list):
                options[key] = [entry for entry in options[key] if not names_in(entry) - known]
            else:
                del options[key]
        if "replacementTrigger" in options:
            options["replacementTrigger"] = cut(options["replacementTrigger"], known)
        known.add(item["name"])
        result.append(item)
    return result


def urns(program, host):
    """The URN of each resource by name."""
    types, found = {}, {}
    for item in program:
        kind, parent = item.get("type", THING), item.get("parent")
        if parent:
            above = types[parent[1:]] + "$"
        else:
            above = GROUP + "$" if host == "script" and parent is None else ""
        types[item["name"]] = above + kind
        found[item["name"]] = f'{STEM}{above}{kind}::{item["name"]}'
    return found


# --- text of programs

def script_item(item):
    shown = {key: item[key] for key in ("name", "type", "parent", "read") if key in item}
    shown["inputs"], options = item.get("inputs", {}), dict(item.get("options", {}))
    if item.get("needs"):
        behind = sorted(names_in(shown["inputs"]) | set(item["needs"]))
        options["dependencies"] = ["@" + name for name in behind]
    if "read" in item:
        options = {key: options[key] for key in ("provider", "additionalSecretOutputs", "dependencies") if key in options}
    if "deleteBeforeReplace" in options:
        options["deleteBeforeReplaceDefined"] = True
    if options:
        shown["options"] = options
    return shown


YAML_OPTIONS = {"importId": "import"}


def yaml_value(value):
    if isinstance(value, str) and value.startswith("@"):
        return "${" + value[1:].removesuffix(".ref") + "}"
    if isinstance(value, dict):
        if value.keys() == {"@secret"}:
            return {"fn::secret": yaml_value(value["@secret"])}
        return {key: yaml_value(item) for key, item in value.items()}
    return [yaml_value(item) for item in value] if isinstance(value, list) else value


def yaml_item(item):
    shown = {"type": item.get("type", THING)}
    options = {YAML_OPTIONS.get(key, key): yaml_value(value) for key, value in item.get("options", {}).items()}
    if "aliases" in options:
        options["aliases"] = [entry["urn"] if "urn" in entry else yaml_alias(entry["spec"])
                              for entry in options["aliases"]]
    if item.get("parent"):
        options["parent"] = yaml_value(item["parent"])
    if item.get("needs"):
        options["dependsOn"] = [yaml_value("@" + name) for name in item["needs"]]
    if "read" in item:
        shown["get"] = {"id": yaml_value(item["read"])}
    else:
        shown["properties"] = yaml_value(item.get("inputs", {}))
    if options:
        shown["options"] = options
    return shown


def yaml_alias(spec):
    shown = {key: value for key, value in spec.items() if key != "parentUrn"}
    return {**shown, "parent": spec["parentUrn"]} if "parentUrn" in spec else shown


def text_of(program, host):
    """The program as YAML."""
    def line(value):
        return json.dumps(value, ensure_ascii=False, sort_keys=False)
    if host == "script":
        head = f"resources:\n  g:\n    type: {GROUP}\n    properties:\n      script:"
        return head + ("\n" if program else " []\n") + "".join(f"        - {line(script_item(item))}\n" for item in program)
    return "resources:" + ("\n" if program else " {}\n") + "".join(f'  {item["name"]}: {line(yaml_item(item))}\n' for item in program)


# --- making them

class Maker:
    """Makes one history."""

    def __init__(self, random, features, max_steps=6, max_resources=6):
        self.random, self.features = random, features
        self.max_steps, self.max_resources = max_steps, max_resources
        self.host = "yaml" if self.has("yaml", 0.15) else "script"
        self.failures = self.host == "script" and self.has("failures", 0.55)
        self.report = self.host == "script" and self.has("continue", 0.3)
        self.removed, self.ever = [], {}

    def has(self, feature, chance):
        """Whether a feature that is allowed comes up."""
        hit = self.random.random() < chance
        return hit and feature in self.features

    def pick(self, *items):
        return self.random.choice(items)

    def some(self, items, least=1, most=2):
        items = list(items)
        return self.random.sample(items, min(len(items), self.random.randint(least, most)))

    # values

    def value(self, before, depth=0, plain=False):
        roll = self.random.random()
        if before and roll < 0.30:
            return self.output_of(self.random.choice(before))
        # The reference's YAML host loses secrets inside an output that is taken whole.
        if roll < 0.36 and not plain and (self.host == "script" or depth == 0) and self.has("secrets", 1):
            return {"@secret": self.value([], depth + 1, True)}
        if roll < 0.46 and depth < 2:
            return [self.value(before, depth + 1, plain) for _ in range(self.random.randint(0, 3))]
        if roll < 0.58 and depth < 2:
            return {key: self.value(before, depth + 1, plain) for key in self.some(("x", "y", "z.w", "ä"), 0, 3)}
        return self.pick(1, 2, 3, 0, -1, 1.5, 1e21, "one", "two", "", "ä b", True, False, None)

    def output_of(self, item):
        if item.get("type") == BOX or self.random.random() < 0.05:
            return "@" + item["name"] if self.host == "script" else 4
        if item.get("type") == PROVIDER:
            return 5
        if item.get("type") == GROUP:
            return "@" + item["name"] + ".first"
        behave = item.get("inputs", {}).get("behave", {})
        keys = [key for key in item.get("inputs", {}) if key in KEYS and key not in behave.get("drop", [])]
        keys += list(behave.get("computed", {})) + ["id"] * (self.host == "yaml" or self.random.random() < 0.2)
        return f'@{item["name"]}.{self.random.choice(keys)}' if keys else 6

    def behaviour(self, keys):
        """How the testbed treats a resource."""
        behave = {}
        if self.has("behaviour", 0.35):
            behave["replace"] = self.some(keys or ["value"])
            if self.has("delete-first", 0.3):
                behave["deleteFirst"] = True
        if self.has("behaviour", 0.15):
            behave["diff"] = self.pick("detailed", "detailed", "unknown", "none", "some")
        if self.has("behaviour", 0.08):
            behave["detail"] = {self.pick("value", "map.x", "list[0]", "text"):
                                self.pick("UPDATE", "UPDATE_REPLACE", "ADD", "DELETE", "ADD_REPLACE", "DELETE_REPLACE")}
        if self.has("behaviour", 0.12):
            behave["computed"] = {"out": self.random.randint(1, 3)}
        if self.has("behaviour", 0.06):
            behave["defaults"] = {"other": self.random.randint(1, 2)}
        if self.has("behaviour", 0.06):
            behave["auto"] = "name"
        if self.has("secrets", 0.08):
            behave["secret"] = self.some(keys or ["value"])
        if self.has("behaviour", 0.03):
            behave["drop"] = self.some(keys or ["value"])
        if self.has("behaviour", 0.04):
            behave["refreshFirst"] = True
        if self.has("behaviour", 0.03):
            behave["readBare"] = True
        if self.failures:
            behave.update(self.failing())
        return behave

    def failing(self):
        behave = {}
        if self.random.random() < 0.12:
            behave["fail"] = {verb: "no" for verb in self.some(("create", "create", "update", "update", "delete", "read", "diff", "check"))}
        if self.random.random() < 0.05:
            behave["partial"] = {verb: ["half"] for verb in self.some(("create", "update", "read"))}
        if self.random.random() < 0.02:
            behave["badInputs"] = {"value": "wrong"}
        return behave

    def options(self, before, kind):
        """Options of a resource that comes after `before`."""
        options = {}
        custom = [item for item in before if item.get("type") not in (BOX, PROVIDER, GROUP)]
        if kind == PROVIDER:
            return {"version": self.pick("1.0.0", "2.0.0")} if self.has("misc", 0.1) else {}
        if self.has("protect", 0.07):
            options["protect"] = self.random.random() < 0.8
        if self.has("protect", 0.06):
            options["retainOnDelete"] = self.random.random() < 0.8
        if self.has("delete-first", 0.12):
            options["deleteBeforeReplace"] = self.random.random() < 0.8
        if self.has("replace-options", 0.1):
            options["replaceOnChanges"] = self.some(("value", "text", "map.x", "list[0]", "list[*]", "*", "other"))
        if self.has("ignore", 0.12):
            options["ignoreChanges"] = self.some(("value", "text", "map.x", "list[0]", "list[*]", "map.*", "map", "extra", "*", 'map["z.w"]'))
        if self.has("secrets", 0.07):
            options["additionalSecretOutputs"] = self.some(("value", "text", "out", "map", "name"))
        if custom and self.has("deleted-with", 0.08):
            options["deletedWith"] = "@" + self.random.choice(custom)["name"]
        if before and self.has("replace-options", 0.08):
            options["replaceWith"] = ["@" + item["name"] for item in self.some(custom or before) if item.get("type") != PROVIDER]
        if self.has("replace-options", 0.08):
            options["replacementTrigger"] = self.trigger(before)
        if self.has("misc", 0.05):
            options["customTimeouts"] = {verb: self.pick("5m", "90s", "1h") for verb in self.some(("create", "update", "delete"))}
        if self.has("misc", 0.05):
            options["hideDiffs"] = self.some(("value", "text", "map.x", "list"))
        if self.has("misc", 0.03):
            options["version"] = self.pick("1.0.0", "2.0.0")
        providers = [item["name"] for item in before if item.get("type") == PROVIDER]
        if providers and self.has("providers", 0.6) and kind not in (BOX, GROUP):
            options.pop("version", None)
            options["provider"] = f"@{self.random.choice(providers)}.ref"
        return options

    def trigger(self, before):
        return self.value(before, 1) if self.random.random() < 0.3 else self.pick(1, 2, "x", [1, {"y": 2}], None)

    def resource(self, before, name):
        roll, kind = self.random.random(), THING
        if roll < 0.12:
            kind = OTHER
        elif roll < 0.22 and self.has("components", 1):
            kind = BOX if self.host == "script" else GROUP
        elif roll < 0.30 and self.has("providers", 1):
            kind = PROVIDER
        item = {"name": name, "type": kind, "needs": [], "inputs": {}, "options": {}}
        if kind == PROVIDER:
            item["inputs"] = {key: self.pick("n", "s") for key in self.some(("region", "replaceProvider"), 0, 2)}
            if before and self.random.random() < 0.15 and self.host == "script":
                item["inputs"]["region"] = self.output_of(self.random.choice(before))
            if self.has("behaviour", 0.05):
                item["inputs"]["quiet"] = "yes"
        elif kind == GROUP:
            item["inputs"] = {"count": self.random.randint(0, 2), "each": {"value": self.value(before, 1)}}
        elif kind == BOX:
            item["inputs"] = {"value": self.value(before)} if self.random.random() < 0.3 else {}
        else:
            item["inputs"] = {key: self.value(before) for key in self.some(KEYS, 1, 3)}
            behave = self.behaviour([key for key in item["inputs"]])
            if behave:
                item["inputs"]["behave"] = behave
        item["options"] = self.options(before, kind)
        self.edges(item, before)
        if kind in (THING, OTHER):
            known = [entry["name"] for entry in before if entry.get("type", THING) in (THING, OTHER)] + self.removed
            if known and self.has("imports", 0.04):
                item["options"]["importId"] = f"{self.random.choice(known)}-{self.pick(1, 1, 2)}"
            elif known and self.has("reads", 0.05):
                item["read"] = f"{self.random.choice(known)}-1"
        return item

    def edges(self, item, before):
        """Parent and plain dependencies."""
        item.pop("parent", None)
        holders = [entry for entry in before if entry.get("type") != PROVIDER]
        boxes = [entry for entry in holders if entry.get("type") in (BOX, GROUP)]
        if boxes and self.random.random() < 0.5:
            item["parent"] = "@" + self.random.choice(boxes)["name"]
        elif holders and self.random.random() < 0.15:
            item["parent"] = "@" + self.random.choice(holders)["name"]
        elif self.host == "script" and self.random.random() < 0.05:
            item["parent"] = ""
        item["needs"] = [entry["name"] for entry in self.some(before)] if before and self.random.random() < 0.2 else []

    def program(self):
        result = []
        for name in NAMES[:self.random.randint(2, self.max_resources)]:
            result.append(self.resource(result, name))
        return self.finished(result)

    def finished(self, program):
        program = legal(program)
        for item in program:
            if self.report and "read" not in item:
                item["options"]["supportsResultReporting"] = True
        self.ever.update({urn: True for urn in urns(program, self.host).values()})
        return program

    # edits

    def edited(self, program):
        program = copy.deepcopy(program)
        for item in program:
            behave = item["inputs"].get("behave", {})
            if isinstance(behave, dict) and self.random.random() < 0.6:
                for key in ("fail", "partial", "badInputs"):
                    behave.pop(key, None)
        for _ in range(self.random.randint(1, 3)):
            program = legal(self.edit(program))
        return self.finished(program)

    def edit(self, program):
        if not program:
            return [self.resource([], "a")]
        place = self.random.randrange(len(program))
        item, before = program[place], program[:place]
        roll = self.random.random()
        if roll < 0.40:
            self.change(item, before)
        elif roll < 0.52:
            self.removed.append(item["name"])
            del program[place]
        elif roll < 0.62:
            used = {entry["name"] for entry in program}
            names = [name for name in list(self.removed) + list(NAMES) if name not in used]
            if names:
                program.insert(place, self.resource(before, names[0]))
        elif roll < 0.72 and self.has("renames", 1):
            return self.renamed(program, place)
        elif roll < 0.86:
            kept = {key: item["options"][key] for key in ("provider", "aliases") if key in item["options"]}
            item["options"] = {**self.options(before, item["type"]), **kept}
        elif roll < 0.93:
            self.edges(item, before)
        else:
            other = self.random.randrange(len(program))
            program[place], program[other] = program[other], program[place]
        return program

    def change(self, item, before):
        if item["type"] == PROVIDER:
            item["inputs"][self.pick("region", "replaceProvider")] = self.pick("n", "s", "e")
            return
        if item["type"] == GROUP:
            item["inputs"]["count"] = self.random.randint(0, 2)
            return
        key = self.pick(*[key for key in item["inputs"] if key != "behave"] or ["value"], self.random.choice(KEYS))
        if item["type"] == BOX:
            key = "value"
        if key in item["inputs"] and self.random.random() < 0.15:
            del item["inputs"][key]
        else:
            item["inputs"][key] = self.value(before)
        if self.failures and self.random.random() < 0.3 and item["type"] in (THING, OTHER):
            item["inputs"].setdefault("behave", {}).update(self.failing())

    def renamed(self, program, place):
        """Another name, type or parent, most often with an alias for the old one."""
        item, old = program[place], urns(program, self.host)[program[place]["name"]]
        if item["type"] == GROUP:
            return program
        what = self.pick("name", "name", "type", "parent")
        spec = {}
        if what == "name":
            free = [name for name in NAMES if name not in {entry["name"] for entry in program}]
            if not free:
                return program
            spec = {"name": item["name"]}
            self.removed.append(item["name"])
            program = replaced(program, item["name"], free[-1])
            item = program[place]
        elif what == "type" and item["type"] in (THING, OTHER):
            spec = {"type": item["type"]}
            item["type"] = THING if item["type"] == OTHER else OTHER
        elif what == "parent":
            parent = item.get("parent")
            spec = {"noParent": True} if parent == "" or (parent is None and self.host == "yaml") else {}
            if parent:
                spec = {"parentUrn": urns(program, self.host)[parent[1:]]}
            elif parent is None and self.host == "script":
                spec = {"parentUrn": f"{STEM}{GROUP}::g"}
            self.edges(item, program[:place])
        if spec and self.random.random() < 0.85:
            alias = {"urn": old} if self.random.random() < 0.4 else {"spec": spec}
            item["options"]["aliases"] = [*item["options"].get("aliases", []), alias][-2:]
        return program

    # steps

    def arguments(self, verb):
        args, known = [], list(self.ever)
        narrowed = self.random.random()
        if narrowed < 0.22 and self.has("targets", 1):
            for urn in self.some(known, 1, 2):
                args += ["--target", self.pattern(urn)]
            if self.random.random() < 0.4:
                args.append("--target-dependents")
        elif narrowed < 0.32 and self.has("excludes", 1):
            for urn in self.some(known, 1, 2):
                args += ["--exclude", self.pattern(urn)]
            if self.random.random() < 0.4:
                args.append("--exclude-dependents")
        if verb in ("up", "preview"):
            if self.has("replace", 0.07):
                args += ["--replace", self.random.choice(known)]
            if self.has("refresh", 0.12):
                args.append("--refresh")
                if self.has("run-program", 0.2):
                    args.append("--run-program")
        elif self.has("run-program", 0.2):
            args.append("--run-program")
        if verb == "destroy" and not narrowed < 0.32 and self.has("protect", 0.15):
            args.append("--exclude-protected")
        if verb == "refresh" and self.has("preview", 0.15):
            args.append("--preview-only")
        if verb in ("up", "destroy") and self.has("continue", 0.6 if self.report else 0.05):
            args.append("--continue-on-error")
        return args

    def pattern(self, urn):
        return urn if self.random.random() < 0.75 else self.pick("**::" + urn.rsplit("::", 1)[1], "**index:Other::*", urn[:-1] + "*")

    def disturbance(self):
        """Something that happens to the cloud or to the state between two commands."""
        name = self.random.choice(list(self.ever)).rsplit("::", 1)[1]
        roll = self.random.random()
        if roll < 0.15 and self.has("state", 1):
            urn = self.random.choice(list(self.ever))
            verb = self.pick("taint", "taint", "untaint", "protect", "unprotect", "delete")
            return {"do": "state", "args": [verb, urn, "--yes"]}
        step = {"do": "cloud", "name": name, "maybe": True}
        if roll < 0.45:
            return {**step, "gone": True}
        if roll < 0.75 or not self.failures:
            part = self.pick("set", "set", "inputs", "outputs")
            return {**step, part: {self.random.choice(KEYS): self.value([], 0, True)}}
        return {**step, "fail": {self.pick("update", "delete", "read"): "no"}}

    def step(self, program):
        roll = self.random.random()
        if roll < 0.12 and self.has("refresh", 1):
            verb = "refresh"
        elif roll < 0.20 and self.has("destroy", 1):
            verb = "destroy"
        elif roll < 0.30 and self.has("preview", 1):
            verb = "preview"
        else:
            verb = "up"
        step = {"do": verb, "args": self.arguments(verb)}
        if verb in ("up", "preview") and self.random.random() < 0.75:
            step["program"] = self.edited(program)
        return step

    def history(self):
        program = self.program()
        steps = [{"do": "up", "args": ["--continue-on-error"] if self.has("continue", 0.5 if self.report else 0) else [],
                  "program": program}]
        for _ in range(self.random.randint(2, self.max_steps - 1)):
            if self.has("drift", 0.35):
                steps.append(self.disturbance())
            step = self.step(program)
            program = step.get("program", program)
            steps.append(step)
        return {"host": self.host, "steps": steps}


def replaced(value, old, new):
    """The program with one name in place of another."""
    if isinstance(value, str):
        head, dot, tail = value.partition(".")
        return "@" + new + dot + tail if head == "@" + old else value
    if isinstance(value, list):
        return [replaced(item, old, new) for item in value]
    if isinstance(value, dict):
        result = {key: replaced(item, old, new) for key, item in value.items()}
        if value.get("name") == old and "inputs" in value:
            result["name"] = new
        if "needs" in value:
            result["needs"] = [new if name == old else name for name in value["needs"]]
        return result
    return value


# --- making them smaller

def smaller(history):
    """Histories with a little less in them, the largest cuts first."""
    steps = history["steps"]
    for index in range(len(steps) - 1):
        fewer = copy.deepcopy(steps)
        gone = fewer.pop(index)
        if "program" in gone:
            if "program" not in fewer[index] and fewer[index]["do"] not in ("cloud", "state"):
                fewer[index]["program"] = gone["program"]
            elif index == 0 and "program" not in fewer[0]:
                continue
        yield {**history, "steps": fewer}
    for name in sorted({item["name"] for step in steps for item in step.get("program", [])}, reverse=True):
        yield with_programs(history, lambda program, name=name: [item for item in program if item["name"] != name])
    for index, step in enumerate(steps):
        for place in range(len(step.get("program", []))):
            fewer = copy.deepcopy(steps)
            del fewer[index]["program"][place]
            fewer[index]["program"] = legal(fewer[index]["program"])
            yield {**history, "steps": fewer}
    for index, step in enumerate(steps):
        words = step.get("args", []) if step["do"] != "state" else []
        for place, word in enumerate(words):
            if word.startswith("--"):
                width = 2 if words[place + 1:] and not words[place + 1].startswith("--") else 1
                fewer = copy.deepcopy(steps)
                del fewer[index]["args"][place:place + width]
                yield {**history, "steps": fewer}
    paths = {}
    for step in steps:
        for item in step.get("program", []):
            for path in parts(item):
                paths.setdefault((item["name"], path))
    for name, path in sorted(paths, key=lambda entry: (len(entry[1]), entry)):
        yield with_programs(history, lambda program, name=name, path=path: [
            without(item, path) if item["name"] == name else item for item in program])


def parts(item):
    """Paths of what can be taken out of a resource."""
    found = [(key,) for key in ("parent", "needs", "read") if item.get(key) or key in item and key != "needs"]
    for bag in ("inputs", "options"):
        for key, value in item[bag].items():
            found.append((bag, key))
            if isinstance(value, dict):
                found += [(bag, key, inner) for inner in value]
    if item.get("type", THING) != THING:
        found.append(("type",))
    return found


def without(item, path):
    item = copy.deepcopy(item)
    bag = item
    for key in path[:-1]:
        bag = bag.get(key)
        if not isinstance(bag, dict):
            return item
    bag.pop(path[-1], None)
    return item


def with_programs(history, change):
    steps = copy.deepcopy(history["steps"])
    for step in steps:
        if "program" in step:
            step["program"] = legal(change(step["program"]))
    return {**history, "steps": steps}
