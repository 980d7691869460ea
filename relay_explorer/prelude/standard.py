"""`Prelude`: a module that contains the standard library, with access to its definitions."""

from __future__ import annotations

from typing import Any

from ..ir.adt import Constructor
from ..ir.errors import ModuleError
from ..ir.expr import GlobalVar
from ..ir.module import IRModule
from ..ir.types import GlobalTypeVar
from .libraries import library, provide_tensor_arrays
from .tensor_arrays import Shape, static_name


class Prelude:
    """A module with the prelude: `Prelude(mod)` adds it to `mod`, `Prelude()` to an empty module.

    Its functions are attributes: `prelude.map(f, xs)` is a call, `prelude.mod` is the module.

        prelude = Prelude()
        _, cons, nil = prelude.mod.get_type("List")
        prelude.length(cons(relay.const(1), nil()))
    """

    def __init__(self, mod: IRModule | None = None) -> None:
        self.mod = IRModule() if mod is None else mod
        self.load_prelude()

    def load_prelude(self) -> None:
        """Add the library, and make its functions attributes. Tensor arrays are added at their first use, all
        those of one element type together.
        """
        self.mod.import_from_std("prelude.rly")
        self.mod.provide(provide_tensor_arrays)
        for var in library("prelude.rly").functions:
            setattr(self, var.name_hint, self.mod.get_global_var(var.name_hint))

    def __getattr__(self, name: str) -> Any:
        """Return the function of that name (`prelude.tensor_array_float32`)."""
        if name.startswith("_") or name == "mod":
            raise AttributeError(name)
        try:
            return self.mod.get_global_var(name)
        except ModuleError as error:
            raise AttributeError(str(error), name=name, obj=self) from None

    def get_name(self, canonical: str, dtype: str | None = None) -> str:
        """Return the module's name for the definition called `canonical`. The names of definitions for one
        element type end in it: `get_name("tensor_array", "int8")` is `"tensor_array_int8"`; the type of
        tensors is `tensor_int8_t`.
        """
        if dtype is None:
            return canonical
        return f"tensor_{dtype}_t" if canonical == "tensor_t" else f"{canonical}_{dtype}"

    def get_global_var(self, canonical: str, dtype: str | None = None) -> GlobalVar:
        """Return the function of that name; raise a ModuleError that suggests similar names where there is
        none.
        """
        return self.mod.get_global_var(self.get_name(canonical, dtype))

    def get_type(self, canonical: str, dtype: str | None = None) -> GlobalTypeVar:
        """Return the type of that name. (`prelude.mod.get_type` returns its constructors too.)"""
        return self.mod.get_global_type_var(self.get_name(canonical, dtype))

    def get_ctor(self, ty_name: str, canonical: str, dtype: str | None = None) -> Constructor:
        """Return the constructor `canonical` of the type `ty_name`; raise a ModuleError where there is
        none.
        """
        return self._constructor(ty_name, self.get_name(canonical, dtype))

    def get_tensor_ctor(self, canonical: str, dtype: str) -> Constructor:
        """Return the constructor `canonical` (`tensor_nil`, `tensor0` … `tensor6`) of tensors of an element
        type.
        """
        return self.get_ctor(self.get_name("tensor_t", dtype), canonical, dtype)

    # -- tensor arrays of one shape: see StaticTensorArrayOps

    def get_name_static(self, canonical: str, dtype: str, shape: Shape, batch_dim: int | None = None) -> str:
        """Return the module's name for the definition called `canonical`, for tensors of that shape."""
        return static_name(canonical, dtype, shape, batch_dim)

    def get_global_var_static(
        self, canonical: str, dtype: str, shape: Shape, batch_dim: int | None = None
    ) -> GlobalVar:
        """Return the function of that name; raise a ModuleError where it is not defined yet."""
        return self.mod.get_global_var(static_name(canonical, dtype, shape, batch_dim))

    def get_type_static(self, canonical: str, dtype: str, shape: Shape) -> GlobalTypeVar:
        """Return the type of that name; raise a ModuleError where it is not declared yet."""
        return self.mod.get_global_type_var(static_name(canonical, dtype, shape))

    def get_ctor_static(self, ty_name: str, name: str, dtype: str, shape: Shape) -> Constructor:
        """Return the constructor `name` of the type `ty_name` of tensors of that shape."""
        return self._constructor(static_name(ty_name, dtype, shape), static_name(name, dtype, shape))

    def get_tensor_ctor_static(self, name: str, dtype: str, shape: Shape) -> Constructor:
        """Return the constructor `name` (`tensor_nil`, `tensor_constructor`) of tensors of that shape."""
        return self.get_ctor_static("tensor_t", name, dtype, shape)

    def _constructor(self, ty_name: str, name: str) -> Constructor:
        data = self.mod.type_definitions[self.mod.get_global_type_var(ty_name)]
        for constructor in data.constructors:
            if constructor.name_hint == name:
                return constructor
        names = ", ".join(f"`{c.name_hint}`" for c in data.constructors)
        raise ModuleError(f"the type `{ty_name}` has no constructor `{name}`", help=[f"it has {names}"])
