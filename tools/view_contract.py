"""Generate the schema, the decoder's table and the types of a view's data from its dataclasses: `make views`.

The files are in `frontend/src/generated/`: the table by which `core/decode.js` turns a page's JSON into
objects, their TypeScript declarations, a JSON schema, the views that can be drawn, the operators that
commute. `relay_explorer/interop/palette.py` has `core/theme.css`'s colors. `--check` lists stale files.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import pkgutil
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from relay_explorer import views
from relay_explorer.ir.declaration import Trait
from relay_explorer.ir.op import Op
from relay_explorer.views.format import NAME, VERSION, Row, View
from relay_explorer.views.schema import Field, Record, Size, Type, describe, records

ROOT = Path(__file__).parents[1]
SCHEMA_TYPE = (
    "{ format: string, version: number, views: Record<string, string>, "
    "records: Record<string, { fields: any[], tag?: string, object?: number }> }"
)
TARGET = ROOT / "frontend" / "src" / "generated"
DRAWINGS = ROOT / "frontend" / "src" / "views"
THEME = ROOT / "frontend" / "src" / "core" / "theme.css"
PALETTE = ROOT / "relay_explorer" / "interop" / "palette.py"
NOTE = "Derived from the dataclasses of relay_explorer/views by `make views`."


def kinds() -> dict[str, Record]:
    """Return the description of every view's data, by kind."""
    for package in pkgutil.iter_modules(views.__path__):
        if package.ispkg:
            for name in ("", ".format"):
                path = f"{views.__name__}.{package.name}{name}"
                if importlib.util.find_spec(path):
                    importlib.import_module(path)
    schemas = {
        cls.kind: describe(cls) for cls in View.__subclasses__() if cls.__module__.startswith(views.__name__)
    }
    return dict(sorted(schemas.items()))


def owner(record: Record) -> str:
    """Return the view in which a record is declared, or "common"."""
    package = record.cls.__module__.removeprefix(f"{views.__name__}.").split(".")[0]
    return "common" if package in ("format", "schema") else package


def title(record: Record) -> str:
    """Return a record's name, distinct from those of all other views."""
    return f"{owner(record)}.{record.name}"


# -- the table


def table() -> dict[str, Any]:
    """Return the table from which `core/decode.js` decodes."""
    views_ = kinds()
    every = {title(r): r for root in (describe(Row), *views_.values()) for r in records(root)}
    return {
        "format": NAME, "version": VERSION,
        "views": {kind: title(record) for kind, record in views_.items()},
        "records": {name: _record(record) for name, record in sorted(every.items())},
    }  # fmt: skip


def _record(record: Record) -> dict[str, Any]:
    shape: dict[str, Any] = {"fields": [_field(field) for field in record.fields]}
    if record.is_object:
        shape["object"] = 1
    if record.tag:
        shape["tag"] = record.tag
    return shape


def _field(field: Field) -> list[Any]:
    """Encode a field as [name, type]; a field that is stored elsewhere in the JSON also has its location:
    [key, inside, span, may be left out].
    """
    key = field.key
    place = [key.name, key.inside, key.span, int(key.omitted)]
    return [field.name, _type(field.type), *([place] if any(place) else [])]


def _type(type_: Type) -> list[Any]:
    """Encode a type as a list: its kind, and its parameters; trailing 0 and "" are omitted."""
    shape = _full_type(type_)
    while not shape[-1]:
        shape.pop()
    return shape


def _full_type(type_: Type) -> list[Any]:
    match type_.kind:
        case "integer" if type_.index is not None:
            return ["index", type_.index.of, int(type_.index.none), type_.index.order]
        case "integer" if type_.least is not None:
            return ["count", type_.least]
        case "enum":
            assert type_.enum is not None
            return ["enum", len(type_.enum)]
        case "word":
            return ["word", *type_.words]
        case "say":
            return ["say", int(type_.empty)]
        case "entity":
            assert type_.index is not None
            return ["entity", type_.index.of]
        case "list":
            assert type_.of is not None
            return ["list", _type(type_.of), int(type_.flat), int(type_.spread), *_size(type_.size)]
        case "record":
            assert type_.record is not None
            return ["record", title(type_.record)]
        case "union":
            return ["union", *(title(member) for member in type_.members)]
        case "optional" | "map":
            assert type_.of is not None
            return [type_.kind, _type(type_.of)]
        case "view":
            return ["view", type_.view]
    return [type_.kind]


def _size(size: Size | None) -> list[Any]:
    return ["", 0] if size is None else [size.of, size.least]


# -- declarations for the type checker


def declarations() -> Iterator[tuple[str, str]]:
    """Return the name and the text of a TypeScript declaration file for every view."""
    by_owner: dict[str, list[Record]] = {}
    for root in (describe(Row), *kinds().values()):
        for record in records(root):
            listed = by_owner.setdefault(owner(record), [])
            if record not in listed:
                listed.append(record)
    for name, listed in by_owner.items():
        body = "\n".join(_interface(record, name) for record in listed)
        if name == "common":
            body += _BASE
        used = sorted({m for m in re.findall(r"\b(\w+)\.\w", body) if m in by_owner and m != name})
        imports = "".join(f'import type * as {other} from "./{other}.js";\n' for other in used)
        yield f"{name}.d.ts", f"// {NOTE}\n{imports}\n{body}"


_OPTIONAL = ("opening", "editable")  # of a view: left out where they are empty
_BASE = """
/** A sentence: a template, then its arguments. */
export type Sentence = string[];

/** What every view has. */
export interface BaseView {
  view: string;
  title: string;
  /** One or two sentences: the text equivalent of the first frame. */
  summary: string;
  /** Why the step that is shown first is that one, in a few words; empty where there is nothing to say. */
  opening: string;
  /** The program as text to edit, where the rows refer to constants; otherwise empty. */
  editable: string;
  rows: Row[];
}
"""


def _interface(record: Record, here: str) -> str:
    is_view = issubclass(record.cls, View)
    lines = [*_comment(record.cls.__doc__ or "", "")]
    base = " extends common.BaseView" if is_view else ""
    lines.append(f"export interface {record.name}{base} {{")
    if is_view:
        lines.append(f'  view: "{record.cls.kind}";')  # type: ignore[attr-defined]  # a view
    for field in record.fields:
        lines.append(f"  {field.name}: {_declared(field.type, here)};")
    return "\n".join([*lines, "}", ""])


def _comment(doc: str, indent: str) -> list[str]:
    text = " ".join(doc.split())
    if text.startswith(("Token(", "Row(")) or not text:
        return []
    wrapped = textwrap.wrap(text, 110)
    if len(wrapped) == 1:
        return [f"{indent}/** {wrapped[0]} */"]
    return [f"{indent}/**", *(f"{indent} * {line}" for line in wrapped), f"{indent} */"]


def _declared(type_: Type, here: str) -> str:
    match type_.kind:
        case "text":
            return "string"
        case "word":
            return " | ".join(f'"{w}"' for w in type_.words) or "string"
        case "flag":
            return "boolean"
        case "say":
            return "string[]"
        case "entity":
            return "number | string"
        case "list":
            assert type_.of is not None
            inner = _declared(type_.of, here)
            return f"({inner})[]" if " " in inner else f"{inner}[]"
        case "optional":
            assert type_.of is not None
            return f"{_declared(type_.of, here)} | null"
        case "map":
            assert type_.of is not None
            return f"Record<string, {_declared(type_.of, here)}>"
        case "record":
            assert type_.record is not None
            return _named(type_.record, here)
        case "union":
            return " | ".join(_named(member, here) for member in type_.members)
        case "view":
            record = kinds()[type_.view]
            return _named(record, here)
    return "number"


def _named(record: Record, here: str) -> str:
    return record.name if owner(record) == here else f"{owner(record)}.{record.name}"


# -- the JSON schema


def json_schema() -> dict[str, Any]:
    """Return the JSON schema (2020-12) of every view's JSON. What it cannot express, such as the targets of
    indices, is in the table that the validators use.
    """
    views_ = kinds()
    every = {title(r): r for root in (describe(Row), *views_.values()) for r in records(root)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Views of {NAME}, version {VERSION}",
        "oneOf": [{"$ref": f"#/$defs/{title(record)}"} for record in views_.values()],
        "$defs": {name: _schema(record) for name, record in sorted(every.items())},
    }


def _schema(record: Record) -> dict[str, Any]:
    description = " ".join((record.cls.__doc__ or "").split())
    if issubclass(record.cls, View):
        return _view_schema(record, description)
    if record.is_object:
        return {"description": description, **_object_schema(record)}
    last = record.fields[-1] if record.fields else None
    heads = [f for f in record.fields if not f.type.spread]
    shape: dict[str, Any] = {
        "description": description,
        "type": "array",
        "prefixItems": [{"title": f.name, **_json(f.type)} for f in heads],
        "minItems": len(heads) - (last is not None and last.key.omitted),
    }
    if last is not None and last.type.spread:
        assert last.type.of is not None
        shape["items"] = _elements(last.type)
    else:
        shape["items"] = False
    return shape


def _object_schema(record: Record) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required: list[str] = []
    for field in record.fields:
        key, kind = field.key, _json(field.type)
        if key.span:
            span = properties.setdefault(key.span, {"type": "array", "prefixItems": [], "items": False})
            span["prefixItems"].append({"title": field.name, **kind})
        elif key.inside:
            inner = properties.setdefault(key.inside, {"type": "object", "properties": {}, "required": []})
            inner["properties"][field.wire] = kind
            inner["required"].append(field.wire)
        else:
            properties[field.wire] = kind
        name = key.span or key.inside or field.wire
        if not key.omitted and name not in required:
            required.append(name)
    return {"type": "object", "properties": properties, "required": required}


def _view_schema(record: Record, description: str) -> dict[str, Any]:
    shape = _object_schema(record)
    text = {"type": "string"}
    base = {
        "format": {"const": NAME}, "version": {"const": VERSION},
        "view": {"const": record.cls.kind},  # type: ignore[attr-defined]  # a view
        "title": text, "summary": text, **dict.fromkeys(_OPTIONAL, text),
        "strings": {"type": "array", "items": text},
        "program": {
            "type": "object",
            "properties": {"rows": {"type": "array", "items": {"$ref": "#/$defs/common.Row"}}},
            "required": ["rows"],
        },
    }  # fmt: skip
    return {
        "description": description, "type": "object", "properties": {**base, **shape["properties"]},
        "required": [*(key for key in base if key not in _OPTIONAL), *shape["required"]],
    }  # fmt: skip


def _json(type_: Type) -> dict[str, Any]:
    match type_.kind:
        case "integer" if type_.index is not None:
            least = -1 if type_.index.none else 0
            return {"type": "integer", "minimum": least, "description": f"an index into {type_.index.of}"}
        case "integer":
            return {"type": "integer", **({} if type_.least is None else {"minimum": type_.least})}
        case "enum":
            assert type_.enum is not None
            names = ", ".join(f"{m.value} {m.name.lower().replace('_', ' ')}" for m in type_.enum)
            return {"enum": [m.value for m in type_.enum], "description": names}
        case "number":
            return {"type": "number"}
        case "text":
            return {"type": "integer", "minimum": 0, "description": "a text: an index into strings"}
        case "word":
            return {"enum": list(type_.words)} if type_.words else {"type": "string"}
        case "flag":
            return {"enum": [0, 1, False, True]}
        case "say":
            texts = {"type": "array", "items": {"type": "integer", "minimum": 0}}
            return {**texts, "minItems": int(not type_.empty), "description": "a template, its arguments"}
        case "entity":
            assert type_.index is not None
            return {"type": "integer", "description": f"an index into {type_.index.of}; below 0 a text"}
        case "optional":
            assert type_.of is not None
            return {"anyOf": [_json(type_.of), {"type": "null"}]}
        case "map":
            assert type_.of is not None
            return {"type": "object", "additionalProperties": _json(type_.of)}
        case "record":
            assert type_.record is not None
            return {"$ref": f"#/$defs/{title(type_.record)}"}
        case "union":
            return {"anyOf": [{"$ref": f"#/$defs/{title(member)}"} for member in type_.members]}
        case "view":
            return {"$ref": f"#/$defs/{title(kinds()[type_.view])}"}
    least = type_.size.least if type_.size else 0
    return {"type": "array", "items": _elements(type_), **({"minItems": least} if least else {})}


def _elements(type_: Type) -> dict[str, Any]:
    """Return the schema of a list's elements; for a flat list, that of any field of its records."""
    assert type_.of is not None
    if type_.flat and type_.of.record is not None:
        return {"anyOf": [_json(field.type) for field in type_.of.record.fields]}
    return _json(type_.of)


# -- the files


def registry() -> str:
    """Return the JavaScript module that registers all views: `src/views/KIND/view.js` exports `mountKind`."""
    names = sorted(path.parent.name for path in DRAWINGS.glob("*/view.js"))
    imports = [f'import {{ mount{n.capitalize()} }} from "../views/{n}/view.js";' for n in names]
    pairs = "\n".join(f'  ["{n}", mount{n.capitalize()}],' for n in names)
    lines = [f"// {NOTE}", *imports, "", '/** @import { Mount } from "../core/types.js" */', ""]
    table = f"export const VIEWS = new Map(/** @type {{[string, Mount][]}} */ ([\n{pairs}\n]));"
    return "\n".join([*lines, table, ""])


def operators() -> str:
    """Return the JavaScript module with what dataflow patterns have to know of operators."""
    names = json.dumps(sorted(Op.names_with(Trait.COMMUTATIVE)))
    return "\n".join(
        [
            "// Derived from the operators' declarations by `make views`.",
            "/** Operators whose operands patterns match in either order. */",
            f"export const COMMUTATIVE = new Set({names});",
            "",
        ]
    )


def palette_module() -> str:
    """Return the Python module with the explorers' colors, for drawings outside of the page."""
    css = THEME.read_text("utf-8")
    lines = ['"""The colors of the explorers, by token. Derived from theme.css by `make views`."""', ""]
    lines += ["from __future__ import annotations", "", "PALETTES: dict[str, dict[str, str]] = {"]
    for theme, selector in (("light", r"\.rx"), ("dark", r'\.rx\[data-theme="dark"\]')):
        block = re.search(rf"^{selector} {{(.*?)^}}", css, re.DOTALL | re.MULTILINE)
        if block is None:
            raise ValueError(f"{THEME.name} has no colors for the theme {theme!r}")
        colors = re.findall(r"--([\w-]+):\s*(#[0-9a-fA-F]{6})\b", block[1])
        lines += [
            f'    "{theme}": {{',
            *(f'        "{token}": "{color}",' for token, color in colors),
            "    },",
        ]
    return "\n".join([*lines, "}", ""])


def files() -> dict[str, str]:
    """Return all generated files, by name."""
    compact = json.dumps(table(), separators=(",", ":"), ensure_ascii=False)
    return {
        "schema.js": f"// {NOTE}\n/** @type {{{SCHEMA_TYPE}}} */\nexport const SCHEMA = {compact};\n",
        "registry.js": registry(),
        "operators.js": operators(),
        "view.schema.json": json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n",
        **dict(declarations()),
    }


def stale() -> list[str]:
    """Return the files that differ from what the dataclasses generate."""
    derived = files()
    there = {path.name for path in TARGET.iterdir()} if TARGET.is_dir() else set()
    changed = [n for n, text in derived.items() if n not in there or (TARGET / n).read_text("utf-8") != text]
    fresh = PALETTE.is_file() and PALETTE.read_text("utf-8") == palette_module()
    return sorted([*changed, *(there - derived.keys()), *([] if fresh else [PALETTE.name])])


def main() -> int:
    """Write the files, or with --check list those that are out of date."""
    if "--check" in sys.argv[1:]:
        print("\n".join(f"stale: frontend/src/generated/{name}" for name in stale()))
        return bool(stale())
    TARGET.mkdir(parents=True, exist_ok=True)
    derived = files()
    for path in TARGET.iterdir():
        if path.name not in derived:
            path.unlink()
    for name, text in derived.items():
        (TARGET / name).write_text(text, "utf-8", newline="\n")
    PALETTE.write_text(palette_module(), "utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
