"""How a family file declares an operator: in one call, with everything there is to know about it."""

from __future__ import annotations

from ..ir.attrs import Attrs
from ..ir.declaration import Trait
from ..ir.op import Compute, Flops, Op, OpPattern, Relation
from .numeric import meaning

DECLARED: set[str] = set()  # the package's own operators, which the book's reference has


# The traits of operators whose declarations do not say theirs yet.
_TRAITS: dict[Trait, str] = {
    Trait.RESHAPE: "reshape contrib_reverse_reshape",
    Trait.TRANSPOSE: "layout_transform",
    Trait.DISPLACED: "broadcast_to broadcast_to_like",
    Trait.SHAPE_QUERY: "shape_of ndarray_size",
    Trait.TYPE_OF_FIRST: "shape_of ndarray_size",
    Trait.TYPE_OF_SECOND: "broadcast_to_like collapse_sum_like reshape_like",
}


def traits_of(name: str) -> set[Trait]:
    """The traits of an operator that the table lists."""
    return {trait for trait, names in _TRAITS.items() if name in names.split()}


def declare(
    name: str,
    description: str,
    *,
    formula: str,
    relation: Relation,
    inputs: tuple[str, ...] | None = ("data",),
    attrs: type[Attrs] | None = None,
    pattern: OpPattern = OpPattern.OPAQUE,
    flops: Flops | None = None,
    compute: Compute | None = None,
    family: str,
    level: int,
    lenient_in_tvm: str = "",
    gradient: str = "",
    lowering: str = "",
) -> Op:
    """Enters the operator `name`; see `relay_explorer.ir.op.Op` for the fields.

    `formula` is LaTeX without dollar signs; `family` one of FAMILIES, by which explorers colour it.
    `compute` gives the value: of the attributes and the arguments' arrays (a tuple of them for a tuple) it
    makes the result's array, or a tuple of them, of the shape and element type that `relation` says.
    `gradient` says where its gradient is found: "file.function" of `relay_explorer.transform.gradients`,
    which is imported when the first program is differentiated. `lowering` says in the same way where a
    kernel's computation is found: "file.function" of `relay_explorer.ops.te`, or "host" where the
    kernel is `compute` itself.
    """
    if family not in FAMILIES:
        raise ValueError(f"{name}: unknown family {family!r}; known are {', '.join(FAMILIES)}")
    DECLARED.add(name)
    return Op.register(
        Op(
            name,
            description=description,
            formula=formula,
            inputs=inputs,
            relation=relation,
            attrs_class=attrs,
            pattern=pattern,
            flops=flops,
            compute=None if compute is None else meaning(compute),
            family=family,
            level=level,
            lenient_in_tvm=lenient_in_tvm,
            gradient=gradient,
            lowering=lowering,
            traits=traits_of(name) | ({Trait.SIZED_BY_VALUES} if name.startswith("dyn.") else set()),
        )
    )


FAMILIES = (
    "arithmetic", "activation", "comparison", "reduction", "matmul", "convolution", "pooling",
    "normalization", "shape", "index", "creation", "image", "training", "other",
)  # fmt: skip
