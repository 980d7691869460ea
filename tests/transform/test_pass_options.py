"""Passes are frozen dataclasses: equality, hashing, `repr` and the check of their options."""

from __future__ import annotations

import dataclasses
import gc
import pickle
import subprocess
import sys
import typing
from dataclasses import dataclass
from typing import Annotated
from typing import Any as Anything

import pytest

from relay_explorer import transform
from relay_explorer.dataflow_pattern import is_op, wildcard
from relay_explorer.ir.errors import PassOptionError, RelayError
from relay_explorer.ir.expr import Expr, Function
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.narrow import as_a
from relay_explorer.transform import (
    AlterOpLayout,
    AnnotateTarget,
    AtLeast,
    BatchingOps,
    CombineParallelBatchMatmul,
    CombineParallelConv2D,
    CombineParallelDense,
    CombineSharedDense,
    ConvertLayout,
    DeadCodeElimination,
    EliminateCommonSubexpr,
    EtaExpand,
    FakeQuantizationToInteger,
    FoldConstant,
    FoldScaleAxis,
    FuseOps,
    Legalize,
    MergeComposite,
    PartitionGraph,
    Pass,
    PassContext,
    QnnLegalize,
    RemoveUnusedFunctions,
    Sequential,
    SimplifyInference,
    SplitArgs,
    ToMixedPrecision,
    ToTree,
    function_pass,
    module_pass,
    parse_pipeline,
)
from relay_explorer.transform.infrastructure import registry
from relay_explorer.transform.infrastructure.options import options, type_hints

# Every pass that has options, made twice with options that are not the defaults, and how it is shown.
LITERAL: list[tuple[Anything, str]] = [
    (lambda: AnnotateTarget("dsp", False), "AnnotateTarget(targets=['dsp'], include_non_call_ops=False)"),
    (lambda: CombineParallelBatchMatmul(2), "CombineParallelBatchMatmul(min_num_branches=2)"),
    (lambda: CombineParallelConv2D(2), "CombineParallelConv2D(min_num_branches=2)"),
    (lambda: CombineParallelDense(2, False), "CombineParallelDense(min_num_branches=2, to_batch=False)"),
    (lambda: CombineSharedDense(2, 4), "CombineSharedDense(min_num_branches=2, most_rows=4)"),
    (
        lambda: ConvertLayout({"nn.conv2d": ["NHWC", "default"]}),
        "ConvertLayout(desired_layouts={'nn.conv2d': ('NHWC', 'default')})",
    ),
    (lambda: DeadCodeElimination(True, True), "DeadCodeElimination(inline_once=True, ignore_impurity=True)"),
    (lambda: EtaExpand(False, True, True),
     "EtaExpand(expand_constructor=False, expand_global_var=True, expand_operator=True)"),
    (lambda: FakeQuantizationToInteger(True, True, ["nn.softmax"], "TOEVEN", "float32"),
     "FakeQuantizationToInteger(hard_fail=True, use_qat=True, optional_qnn_ops=['nn.softmax'], "
     "rounding='TOEVEN', compute_dtype='float32')"),
    (lambda: FoldConstant(True), "FoldConstant(fold_qnn=True)"),
    (lambda: FuseOps(2, 4), "FuseOps(fuse_opt_level=2, max_depth=4)"),
    (lambda: Legalize("FMine"), "Legalize(legalize_map_attr_name='FMine')"),
    (lambda: PartitionGraph("net", False), "PartitionGraph(mod_name='net', bind_constants=False)"),
    (lambda: QnnLegalize("FMine"), "QnnLegalize(legalize_map_attr_name='FMine')"),
    (lambda: RemoveUnusedFunctions(["f", "g"]), "RemoveUnusedFunctions(entry_functions=['f', 'g'])"),
    (lambda: Sequential([FuseOps(2), FoldConstant()], 1, "mine", ["InferType"]),
     "Sequential([FuseOps(fuse_opt_level=2), FoldConstant()], opt_level=1, name='mine', "
     "required=['InferType'])"),
    (lambda: SplitArgs(8), "SplitArgs(max_function_args=8)"),
    (lambda: ToMixedPrecision("bfloat16", 2),
     "ToMixedPrecision(mixed_precision_type='bfloat16', missing_op_mode=2)"),
    (lambda: ToTree(10), "ToTree(largest=10)"),
]  # fmt: skip


def alter(attrs: object, inputs: object, tinfos: object, out_type: object) -> None:
    """A rule of AlterOpLayout that changes nothing."""


def skip(expr: Expr) -> bool:
    return False


RELU = is_op("nn.relu")(wildcard())
# Options that are functions or patterns are not literals: they are shown by their names.
OBJECTS: list[tuple[Anything, str]] = [
    (lambda: AlterOpLayout({"nn.conv2d": alter}), "AlterOpLayout(rules={'nn.conv2d': <function alter at "),
    (lambda: EliminateCommonSubexpr(skip), "EliminateCommonSubexpr(fskip=skip)"),
    (lambda: MergeComposite([("dsp.relu", RELU, skip)]), "MergeComposite(pattern_table="),
]
OURS = [cls for cls in registry._ours.values() if cls.__module__.startswith("relay_explorer.transform")]


@pytest.mark.parametrize(("make", "shown"), LITERAL, ids=[shown.partition("(")[0] for _, shown in LITERAL])
def test_what_is_shown_can_be_read_back(make: Anything, shown: str) -> None:
    first, second = make(), make()
    assert first == second
    assert hash(first) == hash(second)
    assert repr(first) == shown
    assert eval(repr(first), vars(transform)) == first
    assert parse_pipeline(str(first)) == (first if isinstance(first, Sequential) else Sequential([first]))
    assert pickle.loads(pickle.dumps(first)) == first


@pytest.mark.parametrize(("make", "shown"), OBJECTS)
def test_options_that_are_objects(make: Anything, shown: str) -> None:
    first, second = make(), make()
    assert first == second
    assert hash(first) == hash(second)
    assert repr(first).startswith(shown)


def test_every_pass_with_options_is_tried() -> None:
    tried = {type(make()) for make, _ in LITERAL + OBJECTS}
    assert {
        cls for cls in OURS if options(cls) and not issubclass(cls, (BatchingOps, FoldScaleAxis))
    } == tried


@pytest.mark.parametrize("cls", OURS, ids=lambda cls: cls.__name__)
def test_every_pass_is_a_frozen_dataclass(cls: type[Pass]) -> None:
    assert "__dataclass_params__" in cls.__dict__
    assert cls.__dict__["__dataclass_params__"].frozen
    assert all(option.name in type_hints(cls) for option in options(cls))
    if all(option.default is not dataclasses.MISSING for option in options(cls)):
        step = cls()
        assert step == cls()
        assert hash(step) == hash(cls())
        assert repr(step) == f"{cls.__name__}()"
        assert str(step) == cls.__name__
        with pytest.raises(dataclasses.FrozenInstanceError):
            step.opt_level = 3


def test_passes_with_different_options_differ() -> None:
    assert FuseOps() != FuseOps(2)
    assert FuseOps() != as_a(object, FoldConstant())
    assert len({FuseOps(), FuseOps(-1), FuseOps(2), FuseOps(max_depth=2), FoldConstant()}) == 4
    assert Sequential([FuseOps()]) != Sequential([FuseOps(2)])
    assert FoldScaleAxis() != Sequential(FoldScaleAxis().passes)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FuseOps("high"),  # type: ignore[arg-type]  # refused
         "FuseOps: the option `fuse_opt_level` must be an integer of at least -1, not 'high' (type str)"),
        (lambda: FuseOps(-2),
         "FuseOps: the option `fuse_opt_level` must be an integer of at least -1, not -2 (type int)"),
        (lambda: FuseOps(max_depth=0),
         "FuseOps: the option `max_depth` must be an integer of at least 1 or None, not 0 (type int)"),
        (lambda: DeadCodeElimination("yes"),  # type: ignore[arg-type]  # refused
         "DeadCodeElimination: the option `inline_once` must be a boolean, not 'yes' (type str)"),
        (lambda: DeadCodeElimination(2),  # type: ignore[arg-type]  # refused
         "DeadCodeElimination: the option `inline_once` must be a boolean, not 2 (type int)"),
        (lambda: RemoveUnusedFunctions("main"),
         "RemoveUnusedFunctions: the option `entry_functions` must be a sequence of strings, "
         "not 'main' (type str)"),
        (lambda: RemoveUnusedFunctions([1]),  # type: ignore[list-item]  # refused
         "RemoveUnusedFunctions: the option `entry_functions` must be a sequence of strings, "
         "not [1] (type list)"),
        (lambda: EliminateCommonSubexpr(1),  # type: ignore[arg-type]  # refused
         "EliminateCommonSubexpr: the option `fskip` must be a function or None, not 1 (type int)"),
        (lambda: ConvertLayout("NHWC"),  # type: ignore[arg-type]  # refused
         "ConvertLayout: the option `desired_layouts` must be a mapping from strings to sequences of strings "
         "or None, not 'NHWC' (type str)"),
        (lambda: ConvertLayout({"nn.conv2d": "NHWC"}),
         "ConvertLayout: the option `desired_layouts` must be a mapping from strings to sequences of strings "
         "or None, not {'nn.conv2d': 'NHWC'} (type dict)"),
        (lambda: ConvertLayout({"nn.conv": ["NHWC"]}),
         "ConvertLayout: there is no operator called `nn.conv`"),
        (lambda: Sequential([FuseOps]), "FuseOps is a class of passes, not a pass"),  # type: ignore[list-item]  # refused
        (lambda: Sequential([abs]),  # type: ignore[list-item]  # refused
         "Sequential: the option `passes` must be a sequence of Pass objects, "
         "not [<built-in function abs>] (type list)"),
        (lambda: Sequential([], "high"),  # type: ignore[arg-type]  # refused
         "Sequential: the option `opt_level` must be an integer, not 'high' (type str)"),
    ],
)  # fmt: skip
def test_a_wrong_option_is_refused_where_it_is_given(make: Anything, message: str) -> None:
    with pytest.raises(PassOptionError) as caught:
        make()
    assert caught.value.message == message
    assert isinstance(caught.value, RelayError)
    assert isinstance(caught.value, TypeError)


def test_numbers_and_switches_as_old_code_gives_them() -> None:
    import numpy as np

    assert FuseOps(np.int64(2)) == FuseOps(2)  # type: ignore[arg-type]  # as old code gives it
    assert type(FuseOps(np.int64(2)).fuse_opt_level) is int  # type: ignore[arg-type]  # as old code gives it
    assert DeadCodeElimination(1) == DeadCodeElimination(True)  # type: ignore[arg-type]  # as old code gives it
    assert repr(DeadCodeElimination(1)) == "DeadCodeElimination(inline_once=True)"  # type: ignore[arg-type]  # as old code gives it


def test_options_cannot_be_changed_from_outside() -> None:
    names, layouts = ["main"], {"nn.conv2d": ["NHWC", "default"]}
    first, second = RemoveUnusedFunctions(names), ConvertLayout(layouts)
    names.append("f")
    layouts["nn.conv2d"].append("NCHW")
    layouts["nn.dense"] = []
    assert first == RemoveUnusedFunctions()
    assert second == ConvertLayout({"nn.conv2d": ["NHWC", "default"]})
    with pytest.raises(TypeError):
        second.desired_layouts["nn.dense"] = []  # type: ignore[index]


def test_the_depth_of_fusion_is_an_option_before_it_is_configuration() -> None:
    with PassContext(config={"relay.FuseOps.max_depth": 7}) as ctx:
        assert FuseOps(max_depth=3).limits(ctx).depth == 3
        assert FuseOps().limits(ctx).depth == 7
    assert FuseOps().limits(PassContext()).depth == 256


# -- passes of a reader


@dataclass(frozen=True)
class Unroll(Pass):
    """Do nothing, `factor` times."""

    factor: Annotated[int, AtLeast(1)] = 4

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return mod


class Plain(Pass):
    """A pass with a constructor of its own."""

    def __init__(self, size: int = 1) -> None:
        self.size = size

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return mod


def test_a_readers_pass_gets_the_same() -> None:
    assert Unroll() == Unroll(4) != Unroll(2)
    assert repr(Unroll(2)) == "Unroll(factor=2)"
    with pytest.raises(PassOptionError, match="must be an integer of at least 1, not 0"):
        Unroll(0)
    assert parse_pipeline("Unroll(2), Unroll") == Sequential([Unroll(2), Unroll()])
    assert Unroll().info.name == "Unroll"


def test_a_readers_plain_class_works_as_before() -> None:
    step = Plain(3)
    assert step == step
    assert step != Plain(3)
    (read,) = parse_pipeline("Plain(size=5)").passes
    assert isinstance(read, Plain)
    assert read.size == 5


def test_passes_of_functions() -> None:
    def same(function: Function, mod: IRModule, ctx: PassContext) -> Function:
        return function

    named = function_pass(same, opt_level=1)
    assert named == function_pass(same, opt_level=1)
    assert hash(named) == hash(function_pass(same, opt_level=1))
    assert named != function_pass(same, opt_level=2)
    assert repr(named) == "same"
    assert parse_pipeline("FuseOps, same") == Sequential([FuseOps(), named])
    assert str(Sequential([FuseOps(), named])) == "FuseOps, same"


def test_passes_of_classes() -> None:
    @module_pass(opt_level=2)
    class Scale:
        def __init__(self, by: int = 2) -> None:
            self.by = by

        def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
            return mod

    make: Anything = Scale
    assert make(3) == make(3) != make(4)
    assert repr(make(3)) == "Scale(3)"
    assert make(3).by == 3
    (read,) = parse_pipeline("Scale(by=3)").passes
    assert typing.cast(Anything, read).by == 3
    assert read.info.opt_level == 2


def test_a_name_for_two_passes_is_refused_in_text_and_required_means_ours() -> None:
    @dataclass(frozen=True)
    class InferType(Pass):
        def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
            raise AssertionError("not this one")

    @module_pass(opt_level=0, required=["InferType"])
    def needing(mod: IRModule, ctx: PassContext) -> IRModule:
        return mod

    with pytest.raises(RelayError, match="`InferType` names two passes"):
        parse_pipeline("InferType")
    assert isinstance(Sequential([needing])(IRModule()), IRModule)
    assert InferType() != as_a(object, transform.InferType())
    del InferType
    gc.collect()
    assert parse_pipeline("InferType") == Sequential([transform.InferType()])


def test_the_infrastructure_imports_no_pass() -> None:
    program = """
import ast, pathlib, sys
folder = pathlib.Path(sys.argv[1])
for path in folder.glob("*.py"):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 2:
            print(path.name, node.module)
        assert not isinstance(node, ast.Call) or "import_module" not in ast.unparse(node.func)
"""
    folder = transform.infrastructure.__path__[0]
    result = subprocess.run(
        [sys.executable, "-c", program, folder], capture_output=True, text=True, check=True
    )
    assert result.stdout == ""


def test_a_pass_without_options_is_shown_by_its_name() -> None:
    assert repr(SimplifyInference()) == "SimplifyInference()"
    assert str(SimplifyInference()) == "SimplifyInference"
