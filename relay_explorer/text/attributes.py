"""Parse attributes: `axis=1, layout="NCHW", padding=[1, 1]`."""

from __future__ import annotations

import re
from typing import Any as Anything

from ..ir.attrs import KINDS, Attrs, DictAttrs
from ..ir.errors import AttributeSchemaError
from ..ir.expr import Var
from ..ir.op import Op
from ..ir.types import Any, Dim, Size
from .lexer import near
from .literals import SPECIAL, number, unquote
from .metadata import MetaTable
from .slashed_names import SlashedNames
from .types import TypeSyntax

_MAX_DEPTH = 100
_INTEGERS = re.compile(r"\[((?:[ ]*+[0-9]{1,18}+[ ]*+,)*+[ ]*+[0-9]{1,18}+[ ]*+)\]")
_WORDS = {"True": True, "False": False, "None": None}

ParsedAttrs = dict[str, tuple[Anything, int, int]]  # each attribute's value, and the offsets of its name


class AttributeSyntax(TypeSyntax):
    """Parse attribute values, and build the attributes of a call by its operator's schema."""

    def __init__(self, text: str, source_name: str, meta: MetaTable) -> None:
        super().__init__(text, source_name)
        self.meta = meta
        self.locals: dict[str, Var] = {}
        self.slashed = SlashedNames()
        self._defaults: dict[type[Attrs], Attrs] = {}

    def dimension(self) -> Dim:
        """Parse one dimension; TVM wrote a named size as `meta[tir.SizeVar][0]`."""
        if self.kind != "name" or self.text != "meta":
            return super().dimension()
        start = self.start
        value = self.meta_reference()
        if not isinstance(value, Size):
            raise self.error("this entry of the metadata is not a dimension", start, self.last)
        return value

    def attribute(self, name: str, start: int, end: int, attrs: ParsedAttrs) -> None:
        """Parse the rest of `name=value`, from the `=` on."""
        if name in attrs:
            raise self.error(
                f"the attribute `{name}` is given twice", start, end, help=["remove one of them"]
            )
        self.advance()
        attrs[name] = (self.value(), start, end)

    def value(self, depth: int = 0) -> Anything:
        """Parse one attribute value."""
        if depth > _MAX_DEPTH:
            raise self.error(f"this attribute is nested more than {_MAX_DEPTH} levels deep")
        kind, text = self.kind, self.text
        if kind in ("number", "-"):
            return self._plain_number()
        if kind == "string":
            return self.string()
        if kind == "[":
            return self._items("[", "]", depth)[0]
        if kind == "(":
            items, comma = self._items("(", ")", depth)
            return items[0] if len(items) == 1 and not comma else tuple(items)
        if kind == "{":
            return self._mapping(depth)
        if kind == "local":
            return self.local_use()
        if kind == "?":
            self.advance()
            return Any()
        if kind == "name":
            return self._word(text)
        raise self.error(
            f"expected the value of an attribute, found {self.found()}",
            help=['values are `1`, `0.5f`, `True`, `"text"`, `[1, 2]`, `(1, 2)`, `None`'],
        )

    def _word(self, text: str) -> Anything:
        if text == "meta":
            return self.meta_reference()
        if text in SPECIAL:
            return self._plain_number()
        self.advance()
        if text in _WORDS:
            return _WORDS[text]
        if text == "type" and self.kind == "(":
            opened = self.start
            self.advance()
            type_ = self.type()
            self.expect(")", "after the type", opened)
            return type_
        return self.size_vars.get(text, text)  # an element type may be written without quotes

    def _plain_number(self) -> int | float:
        negative = self.kind == "-"
        if negative:
            self.advance()
        if self.kind != "number" and self.text not in SPECIAL:
            raise self.error(f"expected a number after `-`, found {self.found()}")
        try:
            value, _ = number(self.text, negative)
        except ValueError as error:
            raise self.error(f"`{self.text[:40]}` {error}") from None
        self.advance()
        return value

    def local_use(self) -> Var:
        """Return the variable whose name is the current token.

        A name may contain a slash, as the names of TensorFlow's layers do; if no such name is in scope,
        `%x/f(%y)` is a division.
        """
        text, start = self.text, self.start
        variable = self.locals.get(text)
        if variable is None and "/" in text:
            for text in self.slashed.prefixes(self.text):
                variable = self.locals.get(text)
                if variable is not None:
                    break
        if variable is None:
            self.advance()
            name = self.content[start : self.last]
            raise self.error(
                f"`{name[:60]}` is not defined here", start, self.last, help=near(name, self.locals)
            )
        self.end = start + len(text)
        self.advance()
        return variable

    def string(self) -> str:
        """Parse a string literal."""
        try:
            text = unquote(self.text)
        except ValueError as error:
            raise self.error(str(error)) from None
        self.advance()
        return text

    def _items(self, open_: str, close: str, depth: int) -> tuple[list[Anything], bool]:
        opened, comma = self.start, False
        plain = _INTEGERS.match(self.content, self.start)
        if plain is not None:  # by far the most frequent case: read in one step
            self.end = plain.end()
            self.advance()
            return list(map(int, plain[1].split(","))), False
        items: list[Anything] = []
        self.advance()
        while self.kind != close:
            items.append(self.value(depth + 1))
            comma = self.kind == ","
            if not comma:
                break
            self.advance()
        self.expect(close, "or `,` after a value", opened)
        return items, comma

    def _mapping(self, depth: int) -> dict[Anything, Anything]:
        opened, mapping = self.start, {}
        self.advance()
        while self.kind != "}":
            if self.kind not in ("string", "local", "number", "-"):
                raise self.error(f'expected a key such as `"name"`, found {self.found()}')
            key = self.value(depth + 1)
            self.expect(":", "and a value after a key")
            mapping[key] = self.value(depth + 1)
            if self.kind != ",":
                break
            self.advance()
        self.expect("}", "or `,` after a value", opened)
        return mapping

    def meta_reference(self) -> Anything:
        """Parse `meta[relay.Constant][0]`, and return that entry of the metadata."""
        start = self.start
        self.advance()
        opened = self.start
        self.expect("[", "after `meta`, as in `meta[relay.Constant][0]`")
        kind = self.text
        self.expect("name", "such as `relay.Constant`")
        self.expect("]", "after the kind of metadata", opened)
        opened = self.start
        self.expect("[", "and a number after the kind of metadata")
        if not self.text.isdecimal() or len(self.text) > 9:
            raise self.error(f"expected the number of an entry, found {self.found()}")
        index = int(self.text)
        self.advance()
        self.expect("]", "after the number of the entry", opened)
        try:
            return self.meta.get(kind, index)
        except ValueError as error:
            raise self.error(str(error), start, self.last) from None

    def call_attrs(self, op: Op, parsed: ParsedAttrs, start: int) -> Attrs | None:
        """Return the attributes of a call of `op`: those in the text, and the defaults of the others."""
        schema = op.attrs_class
        if "attrs_type_key" in parsed:
            schema = _schema(str(parsed.pop("attrs_type_key")[0])) or schema
        if schema is None:
            if parsed:
                name, (_, at, end) = next(iter(parsed.items()))
                help = ["remove it"]
                raise self.error(f"`{op.name}` takes no attributes, so no `{name}`", at, end, help=help)
            return None
        if not parsed and schema in self._defaults:
            return self._defaults[schema]
        fields = schema._fields
        for name, (_, at, end) in parsed.items():
            if name not in fields and not issubclass(schema, DictAttrs):
                raise self.error(
                    f"`{op.name}` has no attribute `{name}`", at, end, help=_known(name, list(fields))
                )
        try:
            attrs = schema(**{name: value for name, (value, _, _) in parsed.items()})
        except AttributeSchemaError as error:
            at, end = self._culprit(schema, parsed, start)
            raise self.error(f"`{op.name}`: {error.message}", at, end, help=error.help) from None
        if not parsed:
            self._defaults[schema] = attrs
        return attrs

    def _culprit(self, schema: type[Attrs], parsed: ParsedAttrs, start: int) -> tuple[int, int]:
        for name, (value, at, end) in parsed.items():
            field = schema._fields.get(name)
            if field is not None:
                try:
                    KINDS[field.kind](value)
                except (TypeError, ValueError):
                    return at, end
        return start, self.last


def free_attrs(parsed: ParsedAttrs) -> Attrs | None:
    """Return the attributes of a call of a function or constructor, which have no schema."""
    values = {name: value for name, (value, _, _) in parsed.items()}
    schema = _schema(str(values["attrs_type_key"])) if "attrs_type_key" in values else None
    if schema is not None:
        del values["attrs_type_key"]
        return schema(**values)
    return DictAttrs(values) if values else None


def _schema(key: str) -> type[Attrs] | None:
    """Return the attribute class with that key."""
    Op.load_all()  # operators register their attribute classes
    return Attrs.by_key(key)


def _known(name: str, fields: list[str]) -> list[str]:
    if not fields:
        return ["it takes no attributes"]
    return [
        *(h for h in near(name, fields) if h.startswith("did")),
        f"its attributes are {', '.join(f'`{f}`' for f in fields)}",
    ]
