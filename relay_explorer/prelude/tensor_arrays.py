"""Tensor arrays: lists of tensors that are written and read by index, as TensorFlow's loops use them.

`TensorArrayOps` are specific to an element type, for tensors of any shape; `StaticTensorArrayOps` to an
element type and a shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from string import Template
from typing import TYPE_CHECKING

from ..ir.adt import Constructor, TypeData
from ..ir.errors import ModuleError
from ..ir.expr import Expr, Function, GlobalVar
from ..ir.module import IRModule
from ..ir.types import Any, Dim, GlobalTypeVar, TensorType, TypeCall
from ..ir.walk import free_vars
from ..text import parse
from ..typing import infer_types
from .libraries import text_of

if TYPE_CHECKING:
    from .standard import Prelude

Shape = Sequence[object]  # integers, sizes and Any


def shape_name(shape: Shape) -> str:
    """Return the part of a name that denotes a shape: `2_any_3`, or `scalar` for a shape without
    dimensions.
    """
    return "_".join("any" if isinstance(dim, Any) else str(dim) for dim in shape) or "scalar"


def static_name(
    canonical: str,
    dtype: str,
    shape: Shape,
    batch_dim: int | None = None,
    extra_shapes: Mapping[str, Shape] | None = None,
) -> str:
    """Return the name of a type, constructor or function of tensor arrays of one shape."""
    extra = "".join(f"_{name}_{shape_name(of)}" for name, of in (extra_shapes or {}).items())
    dims = shape_name(shape) if shape or not extra else ""
    if canonical == "tensor_t":
        return f"static_tensor_{dtype}_{dims}_t"
    batch = "batch1_" if batch_dim == 1 and canonical not in ("tensor_constructor", "tensor_nil") else ""
    return f"{canonical}_{dtype}_{batch}{dims}{extra}"


def get_tensor_array_shape(expr: Expr, dtype: str, prelude: Prelude) -> tuple[Dim, ...] | None:
    """Return the shape of the tensors of an array, an expression of the type `List[…]`; None where each has
    its own shape.

    Raise a ModuleError where `expr` is not an array of tensors of that element type.
    """
    module = prelude.mod.copy()
    module["main"] = Function(free_vars(expr), expr)
    type_ = infer_types(module)["main"].body.checked_type
    if isinstance(type_, TypeCall) and len(type_.args) == 1:
        (element,) = type_.args
        header = element.func if isinstance(element, TypeCall) else element
        if isinstance(header, GlobalTypeVar):
            if header.name_hint == f"tensor_{dtype}_t":
                return None
            if header.name_hint.startswith(f"static_tensor_{dtype}_"):
                return _shape_of(module.type_definitions[header])
    raise ModuleError(f"this is not an array of {dtype} tensors: its type is {type_}", expr.span)


def _shape_of(data: TypeData) -> tuple[Dim, ...]:
    (tensor,) = data.constructors[1].inputs
    assert isinstance(tensor, TensorType)
    return tensor.shape


class TensorArrayOps:
    """The tensor arrays of one element type, in the module of a prelude."""

    def __init__(self, prelude: Prelude, dtype: str) -> None:
        self.prelude = prelude
        self.dtype = dtype

    def get_name(self, canonical: str) -> str:
        """Return the module's name for the definition called `canonical`."""
        return self.prelude.get_name(canonical, self.dtype)

    def get_global_var(self, canonical: str) -> GlobalVar:
        """Return the function called `canonical`."""
        return self.prelude.get_global_var(canonical, self.dtype)

    def get_type(self, canonical: str) -> GlobalTypeVar:
        """Return the type called `canonical`."""
        return self.prelude.get_type(canonical, self.dtype)

    def get_ctor(self, canonical: str) -> Constructor:
        """Return the constructor of tensors called `canonical`."""
        return self.prelude.get_tensor_ctor(canonical, self.dtype)

    def register(self) -> None:
        """Add all definitions now; otherwise they are added when one is first used."""
        self.prelude.mod.import_from_std(f"tensor_array_{self.dtype}.rly")

    define_tensor_adt = define_tensor_take = define_tensor_expand_dims = define_tensor_concat = register
    define_tensor_array = define_tensor_array_read = define_tensor_array_write = register
    define_tensor_array_unstack_tensor1 = define_tensor_array_unstack_tensor2 = register
    define_tensor_array_unstack_tensor3 = define_tensor_array_unstack_tensor4 = register
    define_tensor_array_unstack_tensor5 = define_tensor_array_unstack_tensor6 = register
    define_tensor_array_scatter = define_tensor_array_split = define_tensor_array_concat = register
    define_tensor_array_stack = define_tensor_array_gather = register

    @property
    def tensor_type_var(self) -> GlobalTypeVar:
        """The type of the tensors."""
        return self.get_type("tensor_t")


@cache
def _pieces() -> dict[str, Template]:
    """Return the parts of the template by the names that they define."""
    _, *pieces = text_of("static_tensor_array.rly").split("\n// == ")
    named = [piece.partition("\n") for piece in pieces]
    return {name: Template(text) for name, _, text in named}


class StaticTensorArrayOps:
    """The tensor arrays of one element type and shape, in the module of a prelude; `shape` may contain `Any`.

    With `batch_dim=1`, arrays contain one tensor, so stacking adds a first axis of length 1.
    """

    def __init__(self, prelude: Prelude, dtype: str, shape: Shape, batch_dim: int | None = None) -> None:
        self.prelude = prelude
        self.dtype = dtype
        self.shape = list(shape)
        self.batch_dim = batch_dim

    def get_name(self, canonical: str, extra_shapes: Mapping[str, Shape] | None = None) -> str:
        """Return the module's name for the definition called `canonical`."""
        return static_name(canonical, self.dtype, self.shape, self.batch_dim, extra_shapes)

    def get_global_var(self, canonical: str) -> GlobalVar:
        """Return the function called `canonical`; raise a ModuleError where it is not defined yet."""
        return self.prelude.get_global_var_static(canonical, self.dtype, self.shape, self.batch_dim)

    def get_type(self, canonical: str) -> GlobalTypeVar:
        """Return the type called `canonical`."""
        return self.prelude.get_type_static(canonical, self.dtype, self.shape)

    def get_ctor(self, canonical: str) -> Constructor:
        """Return the constructor of tensors called `canonical`."""
        return self.prelude.get_ctor_static("tensor_t", canonical, self.dtype, self.shape)

    @property
    def tensor_type_var(self) -> GlobalTypeVar:
        """The type of the tensors."""
        return self.get_type("tensor_t")

    # -- definitions, unless they exist already. A scalar has no rows and no parts.

    def define_tensor_adt(self) -> None:
        """Define `tensor_t`: a tensor of the shape, or none yet."""
        module = self.prelude.mod
        if GlobalTypeVar(self.get_name("tensor_t")) not in module:
            self._add("tensor_t")

    def define_tensor_get_data(self) -> None:
        """Define `tensor_get_data(tensor)`: the tensor in a `tensor_t`."""
        self._define("tensor_get_data")

    def define_tensor_take(self) -> None:
        """Define `tensor_take(tensor, lower, upper)`: rows of a tensor."""
        if self.shape:
            self._define("tensor_take")

    def define_tensor_concatenate(self) -> None:
        """Define `tensor_concatenate(x, y)`: two tensors, concatenated along the first axis."""
        if self.shape:
            self._define("tensor_concatenate")

    def define_tensor_expand_dims(self) -> None:
        """Define `tensor_expand_dims(tensor)`: the tensor with a new first axis."""
        self._define("tensor_expand_dims")

    def define_tensor_array(self) -> None:
        """Define `tensor_array(n)`: an array of `n` empty elements."""
        self._define("tensor_array")

    def define_tensor_array_read(self) -> None:
        """Define `tensor_array_read(array, n)`: the element at index `n`."""
        self._define("tensor_array_read")

    def define_tensor_array_write(self) -> None:
        """Define `tensor_array_write(array, n, v)`: the array with `v` at index `n`."""
        self._define("tensor_array_write")

    def define_tensor_array_unstack(self) -> None:
        """Define `tensor_array_unstack(tensor)`: an array of the parts of a tensor along its first axis."""
        if self.shape:
            self._define("tensor_array_unstack")

    def define_tensor_array_scatter(
        self, indices_shape: Shape | None = None, force_update: bool = False
    ) -> None:
        """Define `tensor_array_scatter(array, indices, values)`: writes each value to its index. With
        `indices_shape`, define a separate function for indices of that shape, which is part of its name.
        """
        self.define_tensor_array_read()
        self.define_tensor_array_write()
        extra = None if indices_shape is None else {"indices": indices_shape}
        self._define(
            "tensor_array_scatter", extra, force_update, indices=_tensor(indices_shape or [Any()], "int32")
        )

    def define_tensor_array_split(
        self,
        value_shape: Shape | None = None,
        lengths_shape: Shape | None = None,
        force_update: bool = False,
    ) -> None:
        """Define `tensor_array_split(array, value, lengths)`: writes the first `lengths[0]` rows of `value`
        to index 0, the next `lengths[1]` to index 1, and so on. The value has `value_shape`, by default the
        arrays' shape.
        """
        if not self.shape:
            return
        value = self if value_shape is None else self._at(value_shape)
        value.define_tensor_adt()
        value.define_tensor_take()
        self._rows().define_tensor_array_write()
        self._define(
            "tensor_array_split",
            None,
            force_update,
            lengths=_tensor(lengths_shape or [Any()], "int32"),
            value_T=value.get_name("tensor_t"),
            value_s=value._suffix(),
        )

    def define_tensor_array_concat(self) -> None:
        """Define `tensor_array_concat(array)`: its tensors, concatenated along the first axis."""
        if self.shape:
            self._rows().define_tensor_concatenate()
            self._define("tensor_array_concat")

    def define_tensor_array_stack(self) -> None:
        """Define `tensor_array_stack(array)`: its tensors along a new first axis."""
        self.define_tensor_expand_dims()
        if self.batch_dim == 1:
            self._define("tensor_array_stack", piece="tensor_array_stack of one")
        else:
            self._more().define_tensor_concatenate()
            self._define("tensor_array_stack")

    def define_tensor_array_gather(self) -> None:
        """Define `tensor_array_gather(array, indices)`: some of its tensors, stacked."""
        self.define_tensor_array_read()
        self.define_tensor_array_stack()
        self._define("tensor_array_gather")

    def register(self) -> None:
        """Define all functions."""
        self.define_tensor_adt()
        self.define_tensor_get_data()
        self.define_tensor_take()
        self.define_tensor_concatenate()
        self.define_tensor_expand_dims()
        self.define_tensor_array()
        self.define_tensor_array_read()
        self.define_tensor_array_write()
        self.define_tensor_array_unstack()
        self.define_tensor_array_scatter()
        self.define_tensor_array_split()
        self.define_tensor_array_concat()
        self.define_tensor_array_stack()
        self.define_tensor_array_gather()

    # -- related shapes

    def _at(self, shape: Shape) -> StaticTensorArrayOps:
        ops = StaticTensorArrayOps(self.prelude, self.dtype, shape, self.batch_dim)
        ops.define_tensor_adt()
        return ops

    def _rows(self) -> StaticTensorArrayOps:
        """Return the arrays of tensors with any number of rows of this shape."""
        return self._at([Any(), *self.shape[1:]])

    def _more(self) -> StaticTensorArrayOps:
        """Return the arrays of tensors that stack several of this shape."""
        return self._at([1 if self.batch_dim == 1 else Any(), *self.shape])

    # -- instantiating the template

    def _suffix(self, extra_shapes: Mapping[str, Shape] | None = None) -> str:
        return self.get_name("", extra_shapes).removeprefix("_")

    def _define(
        self,
        canonical: str,
        extra_shapes: Mapping[str, Shape] | None = None,
        force_update: bool = False,
        piece: str | None = None,
        **words: str,
    ) -> None:
        """Add the function `canonical` and its helper unless the module has it."""
        self.define_tensor_adt()
        if force_update or self.get_name(canonical, extra_shapes) not in self.prelude.mod:
            self._add(piece or canonical, extra_shapes, **words)

    def _add(self, piece: str, extra_shapes: Mapping[str, Shape] | None = None, **words: str) -> None:
        """Parse a part of the template with this shape's names, and add its definitions to the module."""
        template = _pieces()[piece]
        for name in template.get_identifiers():
            if name not in words:
                words[name] = self._word(name, extra_shapes)
        module = self.prelude.mod
        context = IRModule(module.functions, module.type_definitions)
        text = template.substitute(words)
        defined = _defined(text)
        for function in defined:
            if function in context:
                del context[function]
        read = parse(text, f"{piece} of {self._suffix()}", context)
        for var, data in read.type_definitions.items():
            if var not in module:
                module.add_type(var, data)
        for function in defined:
            module[function] = read[function]

    def _word(self, name: str, extra_shapes: Mapping[str, Shape] | None) -> str:
        """Return the replacement for a placeholder of the template."""
        if name == "tensor":
            return _tensor(self.shape, self.dtype)
        if name in ("s", "own"):
            return self._suffix(extra_shapes if name == "s" else None)
        which, _, kind = name.rpartition("_")
        ops = self if not which else {"rows": self._rows, "part": self._part, "more": self._more}[which]()
        if kind == "s":
            return ops._suffix()
        return ops.get_name({"T": "tensor_t", "make": "tensor_constructor", "none": "tensor_nil"}[kind])

    def _part(self) -> StaticTensorArrayOps:
        """Return the arrays of tensors shaped like one part along the first axis."""
        return self._at(self.shape[1:])


def _tensor(shape: Shape, dtype: str) -> str:
    dims = ", ".join("?" if isinstance(dim, Any) else str(dim) for dim in shape)
    return f"Tensor[({dims}), {dtype}]"


def _defined(text: str) -> list[str]:
    """Return the names of the functions that a part of the template defines."""
    return [line[len("def @") :].partition("(")[0] for line in text.splitlines() if line.startswith("def @")]
