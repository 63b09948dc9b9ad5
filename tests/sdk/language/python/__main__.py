"""A component with children, a dynamic resource, a secret, a transform, hooks, an alias, a component of a plugin behind an
explicit provider, and a reference to this very stack."""

import pulumi
from pulumi.dynamic import CreateResult, DiffResult, Resource, ResourceProvider, UpdateResult

config = pulumi.Config()
phrase = config.require_secret("phrase")


class GreetingProvider(ResourceProvider):
    def diff(self, _id, olds, news):
        return DiffResult(changes=olds.get("text") != news.get("text"))

    def create(self, props):
        return CreateResult(id_=f"greeting-of-{len(props['text'])}", outs={**props, "length": len(props["text"])})

    def update(self, _id, _olds, news):
        return UpdateResult(outs={**news, "length": len(news["text"])})


class Greeting(Resource):
    length: pulumi.Output[int]

    def __init__(self, name, text, opts=None):
        super().__init__(GreetingProvider(), name, {"text": text, "length": None}, opts)


class Reception(pulumi.ComponentResource):
    def __init__(self, name, text, opts=None):
        super().__init__("davit:test:Reception", name, {}, opts)
        mine = pulumi.ResourceOptions(parent=self)
        self.greeting = Greeting(f"{name}-greeting", text, mine)
        pulumi.Stash(f"{name}-card", input=phrase, opts=pulumi.ResourceOptions(parent=self, depends_on=[self.greeting]))
        self.register_outputs({"length": self.greeting.length})


class Badge(pulumi.ComponentResource):
    label: pulumi.Output[str]
    code: pulumi.Output[str]

    def __init__(self, name, args, opts=None):
        super().__init__("badge:index:Badge", name, {"label": None, "code": None, **args}, opts, remote=True)


def note(args):
    with open(config.require("notes"), "a", encoding="utf-8") as out:
        out.write(f"{args.name} {'made' if args.new_inputs else 'gone'}\n")


def transform(args):
    if args.name == "marked":
        return pulumi.ResourceTransformResult(props={**args.props, "input": f"{args.props['input']} transformed"}, opts=args.opts)
    return None


hook = pulumi.ResourceHook("note", note)
pulumi.runtime.register_resource_transform(transform)

marked = pulumi.Stash("marked", input="a value")
if config.get_bool("hooked"):
    binding = pulumi.ResourceHookBinding(after_create=[hook], after_delete=[hook])
    pulumi.Stash("hooked", input=1, opts=pulumi.ResourceOptions(hooks=binding))
old = pulumi.Stash(config.get("renamed") or "before", input=2,
                   opts=pulumi.ResourceOptions(aliases=[pulumi.Alias(name="before")]))
reception = Reception("reception", config.require("text"))
provider = pulumi.ProviderResource("badge", "badges", {})
badge = Badge("visitor", {"owner": "Ada", "pin": phrase}, pulumi.ResourceOptions(providers=[provider]))
before = pulumi.StackReference(f"organization/{pulumi.get_project()}/{pulumi.get_stack()}")
print("the program has been evaluated")

pulumi.export("length", reception.greeting.length)
pulumi.export("marked", marked.output)
pulumi.export("old", old.urn)
pulumi.export("label", badge.label)
pulumi.export("code", badge.code)
pulumi.export("before", before.get_output("length").apply(lambda found: found or 0))
pulumi.export("preview", pulumi.runtime.is_dry_run())
