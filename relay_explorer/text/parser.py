"""Parse programs: definitions of functions and types, the version line and the metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..ir.adt import Constructor, TypeData
from ..ir.errors import Note, ParseError
from ..ir.expr import Expr, Function, GlobalVar
from ..ir.module import IRModule
from ..ir.scopes import escaped_variable
from ..ir.trampoline import TooDeepError, run
from ..ir.types import GlobalTypeVar, Type
from .compound import CompoundSyntax
from .lexer import METADATA, near
from .metadata import MetaTable

VERSION = "0.0.5"


def parse_module(
    source: str | bytes,
    source_name: str,
    init_module: IRModule | None,
    init_meta_table: Mapping[str, Any] | None,
    max_bytes: int,
) -> IRModule:
    parser = _parser(source, source_name, init_meta_table, max_bytes)
    module = init_module.copy() if init_module is not None else IRModule()
    module.source = parser.source
    try:
        return parser.program(module)
    except TooDeepError:
        raise parser.error(
            "the program is nested too deeply here",
            help=["give inner expressions names: `%0 = …;` or `let %x = …;`"],
        ) from None


def parse_expression(
    source: str | bytes,
    source_name: str,
    init_module: IRModule | None,
    init_meta_table: Mapping[str, Any] | None,
    max_bytes: int,
) -> Expr:
    parser = _parser(source, source_name, init_meta_table, max_bytes)
    parser.known(init_module or IRModule())
    try:
        parser.version()
        value = run(parser.block())
        parser._check_strays(value)
    except TooDeepError:
        raise parser.error(
            "the program is nested too deeply here",
            help=["give inner expressions names: `%0 = …;` or `let %x = …;`"],
        ) from None
    if parser.kind != "end":
        raise parser.error(f"expected the end of the text after the expression, found {parser.found()}")
    parser.check_uses(init_module is not None)
    return value


def _parser(
    source: str | bytes, source_name: str, meta: Mapping[str, Any] | None, max_bytes: int
) -> ModuleSyntax:
    if not isinstance(source, (str, bytes)):
        raise TypeError(f"a program is text, not {type(source).__name__}")
    if len(source) > max_bytes:  # a string's length is a lower bound of its size in bytes, and costs nothing
        raise ParseError(
            f"{source_name}: the program has {len(source):,} characters; the limit is {max_bytes:,} bytes",
            help=["give parse a larger max_bytes if it is meant to be so long"],
        )
    if isinstance(source, bytes):
        try:
            source = source.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ParseError(
                f"{source_name}: byte {error.start} is not UTF-8: is this a binary file?"
            ) from None
    source = source.removeprefix("\ufeff")
    heading = f"\n{METADATA}"
    at = source.rfind(heading)  # the last occurrence, because the heading may also occur in a comment
    section = source[at + len(heading) :] if at >= 0 else None
    return ModuleSyntax(source, source_name, MetaTable(meta, section))


class ModuleSyntax(CompoundSyntax):
    """Parse a whole program."""

    def known(self, module: IRModule) -> None:
        """Bring the definitions of `module` into scope."""
        self.defined: dict[str, int] = {}
        for variable in module.functions:
            self.globals[variable.name_hint] = variable
        for type_var, data in module.type_definitions.items():
            self.adts[type_var.name_hint] = type_var
            for constructor in data.constructors:
                self.constructors[constructor.name_hint] = constructor

    def program(self, module: IRModule) -> IRModule:
        """Parse definitions, optionally followed by an expression, which becomes `@main`."""
        self.known(module)
        self.version()
        while self.kind != "end":
            word = self.text if self.kind == "name" else ""
            if word == "def":
                self._definition(module)
            elif word in ("type", "extern"):
                self._type_declaration(module)
            elif word == "free_var":
                self.free_var()
                self.undo.clear()  # the variable stays in scope in the rest of the program
            else:
                self._main(module)
        self.check_uses()
        return module

    def version(self) -> None:
        """Parse the version line `#[version = "0.0.5"]`, which is optional."""
        if self.kind != "section":
            return
        start = self.start
        self.advance()
        if self.text != "version":
            raise self.error(
                f"expected `version` or `metadata` after `#[`, found {self.found()}",
                help=['a program begins with `#[version = "0.0.5"]`'],
            )
        self.advance()
        self.expect("=", "after `version`")
        at, end = self.start, self.end
        if self.kind != "string":
            raise self.error(f'expected the version between quotes, `"{VERSION}"`, found {self.found()}')
        version = self.string()
        self.expect("]", "after the version", start + 1)
        if version != VERSION:
            raise self.error(f"the program has version {version[:20]}; this parser reads {VERSION}", at, end)

    def _definition(self, module: IRModule) -> None:
        """Parse `def @name…`."""
        start = self.start
        self.advance()
        if self.kind != "global":
            help = [f"did you mean `@{self.text}`?"] if self.kind == "name" else []
            raise self.error(f"expected a name such as `@main` after `def`, found {self.found()}", help=help)
        at, end = self.start, self.end
        name = self.global_name()
        self._new(name, f"`@{name[:60]}`", at, end)
        variable = self.globals.get(name)
        if variable is None:
            variable = self.globals[name] = GlobalVar(name, span=self.span(at, end))
        if variable in module.functions:
            raise self.error(
                f"`@{name[:60]}` is already defined, in the module that the program is added to", at, end
            )
        self._fresh_scope()
        function = run(self.function(start))
        self._check_strays(function)
        module.add_function(variable, function)
        self.global_uses.pop(name, None)

    def _new(self, name: str, shown: str, at: int, end: int) -> None:
        first = self.defined.get(name)
        if first is not None:
            raise self.error(
                f"{shown} is defined twice",
                at,
                end,
                notes=[Note("it was defined here", self.span(first, first + end - at))],
                help=["rename one of them"],
            )
        self.defined[name] = at

    def _fresh_scope(self) -> None:
        self.unwind(0)
        self.graph.clear()
        self.graph_open.clear()
        self.strays.clear()

    def _check_strays(self, value: Expr) -> None:
        """Reject uses of nodes outside their scopes, unless the nodes contain no variable of those scopes and
        so can be moved out.
        """
        if self.strays and (variable := escaped_variable(value)) is not None:
            name, start = self.strays[0]
            raise self.error(
                f"`{name}` is used outside its block, but depends on `%{variable.name_hint}` of that block",
                start,
                start + len(name),
                notes=[Note(f"`%{variable.name_hint}` is bound here", variable.span)],
            )

    def _main(self, module: IRModule) -> None:
        start = self.start
        if self.defined and "main" in self.defined:
            raise self.error(f"expected `def`, `type` or the end of the text, found {self.found()}")
        self._fresh_scope()
        value = run(self.block())
        self._check_strays(value)
        if self.kind != "end":
            raise self.error(f"expected the end of the text after the expression, found {self.found()}")
        self.defined["main"] = start
        if isinstance(value, Function):
            module["main"] = value
        else:
            module.update(IRModule.from_expr(value))

    def _type_declaration(self, module: IRModule) -> None:
        """Parse `type T[A] { C(A), D }` or `extern type T`."""
        start = self.start
        extern = self.text == "extern"
        self.advance()
        if extern:
            if self.text != "type":
                raise self.error(f"expected `type` after `extern`, found {self.found()}")
            self.advance()
        at, end = self.start, self.end
        name = self._new_name("a type")
        if name in self.adts:
            notes = [Note("it was declared here", self.adts[name].span)]
            raise self.error(
                f"the type `{name[:60]}` is declared twice", at, end, notes, help=["rename one of them"]
            )
        self.adt_uses.pop(name, None)
        header = self.adts[name] = GlobalTypeVar(name, span=self.span(at, end))
        outer = self.type_vars
        params = self.type_params() if self.kind == "[" else []
        constructors = [] if extern else self._constructors(header)
        self.type_vars = outer
        if extern and self.kind == ";":
            self.advance()
        module.add_type(header, TypeData(header, params, constructors, self.span(start, self.last)))

    def _new_name(self, what: str) -> str:
        if self.kind == "quoted":
            return self.quoted_name()
        if self.kind != "name":
            raise self.error(f"expected the name of {what}, found {self.found()}")
        name = self.text
        self.advance()
        return name

    def _constructors(self, header: GlobalTypeVar) -> list[Constructor]:
        opened = self.start
        constructors: list[Constructor] = []
        self.expect("{", "before the constructors of the type")
        while self.kind != "}":
            at, end = self.start, self.end
            name = self._new_name("a constructor")
            if name in self.constructors:
                first = self.constructors[name]
                owner = first.belong_to.name_hint[:60]
                notes = [Note("it was declared here", first.span)]
                raise self.error(
                    f"a constructor `{name[:60]}` is already declared, in the type `{owner}`",
                    at,
                    end,
                    notes,
                    help=["rename one of them"],
                )
            inputs: list[Type] = []
            if self.kind == "(":
                inputs, _ = self._types("(", ")", 0)
            constructor = Constructor(name, inputs, header, span=self.span(at, self.last))
            self.constructors[name] = constructor
            constructors.append(constructor)
            if self.kind != ",":
                break
            self.advance()
        self.expect("}", "or `,` after a constructor", opened)
        return constructors

    def check_uses(self, functions: bool = True) -> None:
        """Check that all types used before their definition are now defined, and, if `functions`, that all
        functions are.
        """
        for name, (start, end) in self.adt_uses.items():
            raise self.error(
                f"there is no type called `{name[:60]}`",
                start,
                end,
                help=near(name, [*self.adts, "Tensor", "float32", "int32", "bool"]),
            )
        if not functions:
            return
        defined = [n for n in self.globals if n not in self.global_uses]
        for name, (start, end) in self.global_uses.items():
            raise self.error(
                f"`@{name[:60]}` is used but not defined", start, end, help=near(name, defined, "@")
            )
