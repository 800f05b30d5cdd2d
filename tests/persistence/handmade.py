"""Model files made by hand, as a stranger could make them."""

import json
import zipfile

from recuse.persistence import models
from recuse.persistence.archive import FORMAT


def text(value):
    return {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "content": json.dumps(value)}


def named(module, name, loader="FunctionNode"):
    return {"__class__": name, "__module__": module, "__loader__": loader}


def listed(*items):
    return {**named("builtins", "list", "ListNode"), "content": list(items)}


def write_model(path, schema, versions=None, **header):
    versions = models._present_versions() if versions is None else versions
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", json.dumps({**schema, "protocol": 2, "_skops_version": "0.13"}))
        archive.writestr("recuse.json", json.dumps({"format": FORMAT, "versions": versions, **header}))
