"""Modules: functions and type declarations by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any as Anything
from typing import TypeVar

from .adt import Constructor, TypeData
from .attrs import Attrs, DictAttrs
from .errors import ModuleError
from .expr import Expr, Function, GlobalVar
from .hooks import hook
from .span import Source
from .types import GlobalTypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Table(dict[Key, Value]):
    """A dictionary whose `items()` returns a list, because TVM code indexes it:
    `module.functions.items()[0]`.
    """

    def items(self) -> list[tuple[Key, Value]]:  # type: ignore[override]  # a list supports every use of a view
        return list(super().items())


class IRModule:
    """Global functions and algebraic data types.

    `functions` maps GlobalVar to Function, `type_definitions` GlobalTypeVar to TypeData, both in the order of
    definition. Assigning a function to a name that is defined, or to a GlobalVar of such a name, replaces the
    definition. Passes never change a module: they return a new one. The keys of `IRModule({…})` may also be
    names.
    """

    def __init__(
        self,
        functions: Mapping[GlobalVar, Function] | None = None,
        type_definitions: Mapping[GlobalTypeVar, TypeData] | None = None,
        attrs: Attrs | None = None,
        source: Source | None = None,
    ) -> None:
        self.functions: Table[GlobalVar, Function] = Table()
        self.type_definitions: Table[GlobalTypeVar, TypeData] = Table()
        self.attrs: Attrs = attrs or DictAttrs()
        self.source = source
        self._globals: dict[str, GlobalVar] = {}
        self._providers: tuple[Callable[[IRModule, str], None], ...] = ()
        for type_var, data in (type_definitions or {}).items():
            self.add_type(type_var, data)
        for global_var, function in (functions or {}).items():
            self.add_function(GlobalVar(global_var) if isinstance(global_var, str) else global_var, function)

    @staticmethod
    def from_expr(
        expr: Expr | IRModule,
        functions: Mapping[GlobalVar, Function] | None = None,
        type_defs: Mapping[GlobalTypeVar, TypeData] | None = None,
    ) -> IRModule:
        """Create a module whose `main` is `expr`; an expression that is not a function becomes the body of
        one, with its free variables as parameters.
        """
        if isinstance(expr, IRModule):
            return expr
        module = IRModule(functions, type_defs)
        if not isinstance(expr, Function):
            from .walk import free_type_vars, free_vars

            expr = Function(free_vars(expr), expr, None, free_type_vars(expr))
        name = str(expr.attrs["global_symbol"]) if "global_symbol" in expr.attrs else "main"
        module[name] = expr
        return module

    def copy(self) -> IRModule:
        """Create a new module with the same contents."""
        new = IRModule(self.functions, self.type_definitions, self.attrs, self.source)
        new._providers = self._providers
        return new

    def add_function(self, var: GlobalVar, function: Function) -> None:
        """Define `var`. Raise a ModuleError where the name is already defined."""
        if var.name_hint in self._globals:
            raise ModuleError(f"the module already defines `@{var.name_hint}`", var.span or function.span)
        self._globals[var.name_hint] = var
        self.functions[var] = function

    def add_type(self, var: GlobalTypeVar, data: TypeData) -> None:
        """Declare a type. Raise a ModuleError where the name is already declared."""
        if var in self.type_definitions:
            raise ModuleError(f"the module already declares the type `{var.name_hint}`", data.span)
        self.type_definitions[var] = data

    def update_func(self, var: GlobalVar, function: Function) -> None:
        """Replace the definition of `var` by `function`."""
        self[var] = function

    def update(self, other: IRModule | Mapping[GlobalVar, Function]) -> None:
        """Add everything that `other` defines; its definitions take precedence."""
        if isinstance(other, IRModule):
            for type_var, data in other.type_definitions.items():
                self.type_definitions[type_var] = data
        for var, function in (other.functions if isinstance(other, IRModule) else other).items():
            self[var] = function

    def functions_items(self) -> list[tuple[GlobalVar, Function]]:
        """Return the functions with their GlobalVars, as `tvm.IRModule` listed them: sorted by name."""
        return sorted(self.functions.items(), key=lambda item: item[0].name_hint)

    def _add(
        self, var: str | GlobalVar | GlobalTypeVar, value: Function | TypeData | Expr, update: bool = False
    ) -> None:
        """Define `var`, as `tvm.IRModule._add` did; unless `update`, it must be new."""
        if not update and var in self:
            name = var if isinstance(var, str) else var.name_hint
            raise ModuleError(f"the module already defines `{name}`", help=["give update=True to replace it"])
        self[var] = value

    def _import(self, path: str) -> None:
        """Add the definitions of a file of Relay text."""
        from pathlib import Path

        self.update(hook("parse")(Path(path).read_text("utf-8"), str(path)))

    def provide(self, provider: Callable[[IRModule, str], None]) -> None:
        """Register `provider(module, name)`, called when a function or type is looked up by a name that the
        module does not define; the provider may add it. Large libraries therefore cost nothing until they are
        used.
        """
        if provider not in self._providers:
            self._providers = (*self._providers, provider)

    def import_from_std(self, name: str) -> None:
        """Add a library, such as `"prelude.rly"` or `"nat.rly"`, to this module. Existing definitions take
        precedence.
        """
        hook("import_library")(self, name)

    def _find(self, key: str | GlobalVar) -> GlobalVar | None:
        if isinstance(key, GlobalVar) and key in self.functions:
            return key
        return self._globals.get(key if isinstance(key, str) else key.name_hint)

    def __getitem__(self, key: str | GlobalVar | GlobalTypeVar) -> Function:
        if isinstance(key, GlobalTypeVar):
            return self.type_definitions[key]  # type: ignore[return-value]  # tvm.relay also looked types up like this
        var = self._find(key)
        if var is None:  # a provider has yet to add it, or it is an error
            var = self.get_global_var(key if isinstance(key, str) else key.name_hint)
        return self.functions[var]

    def __setitem__(self, key: str | GlobalVar | GlobalTypeVar, value: Function | TypeData | Expr) -> None:
        if isinstance(key, GlobalTypeVar):
            assert isinstance(value, TypeData)
            self.type_definitions[key] = value
            return
        if not isinstance(value, Function):
            if not isinstance(value, Expr):
                raise TypeError(f"a module holds functions, not {type(value).__name__}")
            from .walk import free_vars

            value = Function(free_vars(value), value)
        var = self._find(key)
        if var is None:
            var = GlobalVar(key) if isinstance(key, str) else key
            self._globals[var.name_hint] = var
        self.functions[var] = value

    def __delitem__(self, key: str | GlobalVar) -> None:
        var = self.get_global_var(key if isinstance(key, str) else key.name_hint)
        del self.functions[var], self._globals[var.name_hint]

    def __contains__(self, key: object) -> bool:
        if isinstance(key, GlobalTypeVar):
            return key in self.type_definitions
        return isinstance(key, (str, GlobalVar)) and self._find(key) is not None

    def get_global_var(self, name: str) -> GlobalVar:
        """Return the GlobalVar of that name. Raise a ModuleError that suggests similar names where there is
        none.
        """
        if name not in self._globals:
            self._ask_providers(name)
        var = self._globals.get(name)
        if var is None:
            raise ModuleError(
                f"the module has no function `@{name}`", help=_suggest(name, self._globals, "@")
            )
        return var

    def _ask_providers(self, name: str) -> None:
        for provider in self._providers:
            provider(self, name)

    def get_global_vars(self) -> list[GlobalVar]:
        return list(self.functions)

    def get_global_type_var(self, name: str) -> GlobalTypeVar:
        """Return the GlobalTypeVar of that name. Raise a ModuleError that suggests similar names where there
        is none.
        """
        if GlobalTypeVar(name) not in self.type_definitions:
            self._ask_providers(name)
        for var in self.type_definitions:
            if var.name_hint == name:
                return var
        raise ModuleError(
            f"the module has no type `{name}`",
            help=_suggest(name, [v.name_hint for v in self.type_definitions], ""),
        )

    def get_global_type_vars(self) -> list[GlobalTypeVar]:
        return list(self.type_definitions)

    def get_type(self, name: str) -> tuple[Anything, ...]:
        """Return the type variable, followed by its constructors, as `tvm.IRModule.get_type` did."""
        var = self.get_global_type_var(name)
        return (var, *self.type_definitions[var].constructors)

    def get_constructor(self, tag: int) -> Constructor:
        """Return the constructor with that tag. Raise a ModuleError where there is none."""
        for constructor in self.constructors():
            if constructor.tag == tag:
                return constructor
        raise ModuleError(f"the module has no constructor with the tag {tag}")

    def constructors(self) -> Iterable[Constructor]:
        for data in self.type_definitions.values():
            yield from data.constructors

    def get_attr(self, name: str) -> object:
        return dict(self.attrs.items()).get(name)

    def with_attr(self, name: str | Mapping[str, object], value: object = None) -> IRModule:
        """Return this module with one more attribute, or several from a dictionary."""
        more = {name: value} if isinstance(name, str) else name
        new = self.copy()
        new.attrs = DictAttrs({**dict(self.attrs.items()), **more})
        return new

    with_attrs = with_attr

    def without_attr(self, name: str) -> IRModule:
        """Return this module without the attribute `name`."""
        new = self.copy()
        new.attrs = DictAttrs({k: v for k, v in self.attrs.items() if k != name})
        return new

    def astext(self, show_meta_data: bool = True, annotate: Callable[[Expr], str] | None = None) -> str:
        """Print the module in the text format, including the version line."""
        text: str = hook("astext")(self, show_meta_data, annotate)
        return text

    def __str__(self) -> str:
        text: str = hook("show")(self)
        return text

    def __repr__(self) -> str:
        return str(self)


def _suggest(name: str, candidates: Iterable[str], sigil: str) -> list[str]:
    names = list(candidates)
    import difflib

    near = difflib.get_close_matches(name[:200], names, n=3, cutoff=0.6)
    if near:
        return [f"did you mean {' or '.join(f'`{sigil}{n}`' for n in near)}?"]
    return [f"it has {', '.join(f'`{sigil}{n}`' for n in names[:8])}"] if names else []
