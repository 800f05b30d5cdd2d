"""Model files made by hand, as a stranger could make them."""

import json

from recuse.persistence import models
from recuse.persistence.archive import FORMAT, members_of, sealed


def text(value):
    return {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "content": json.dumps(value)}


def named(module, name, loader="FunctionNode"):
    return {"__class__": name, "__module__": module, "__loader__": loader}


def listed(*items):
    return {**named("builtins", "list", "ListNode"), "content": list(items)}


def write_model(path, schema, versions=None, **header):
    """Write a file with manifest and seal, as its maker would compute them."""
    versions = models._present_versions() if versions is None else versions
    members = {"schema.json": json.dumps({**schema, "protocol": 2, "_skops_version": "0.13"}).encode()}
    path.write_bytes(sealed(members, {"format": FORMAT, "versions": versions, **header}))


def made_again(content, changes):
    """A model file with members changed, and manifest and seal computed again: what a digest kept elsewhere is for."""
    members = members_of(content)
    header = json.loads(members.pop("recuse.json"))
    return sealed(members | changes, header)
