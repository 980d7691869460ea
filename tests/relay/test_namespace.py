"""What people know of `tvm.relay` carries over: names, signatures, defaults."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

from relay_explorer import relay
from relay_explorer.compat import tvm
from relay_explorer.ir.narrow import as_function

NAMES = """
Any Call Clause Constant Constructor Expr ExprFunctor ExprMutator ExprVisitor FuncType Function
GlobalTypeVar GlobalVar If IncompleteType Let Match PatternConstructor PatternTuple PatternVar
PatternWildcard RefCreate RefRead RefType RefWrite TensorType Tuple TupleGetItem TupleType TupleWrapper
TypeCall TypeData TypeFunctor TypeKind TypeMutator TypeRelation TypeVar TypeVisitor Var add analysis argmax
bind broadcast_to cast concatenate const exp expand_dims fromtext image nn op parse parse_expr reshape
scalar_type split squeeze strided_slice sum take transform transpose var where zeros
""".split()  # noqa: SIM905 - a list of this length reads better as words

SIGNATURES = {
    relay.var: "name_hint, type_annotation=None, shape=None, dtype='float32', span=None",
    relay.const: "value, dtype=None, span=None",
    relay.Function: "params, body, ret_type=None, type_params=None, attrs=None, span=None",
    relay.Call: "op, args, attrs=None, type_args=None, span=None",
    relay.Let: "variable, value, body, span=None",
    relay.If: "cond, true_branch, false_branch, span=None",
    relay.TupleGetItem: "tuple_value, index, span=None",
    relay.Match: "data, clauses, complete=True, span=None",
    relay.FuncType: "arg_types, ret_type, type_params=None, type_constraints=None, span=None",
    relay.nn.conv2d: "data, weight, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, "
    "channels=None, kernel_size=None, data_layout='NCHW', kernel_layout='OIHW', out_layout='', out_dtype=''",
    relay.nn.dense: "data, weight, units=None, out_dtype=''",
    relay.nn.batch_norm: "data, gamma, beta, moving_mean, moving_var, axis=1, epsilon=1e-05, "
    "center=True, scale=True",
    relay.nn.max_pool2d: "data, pool_size=(1, 1), strides=(1, 1), dilation=(1, 1), padding=(0, 0), "
    "layout='NCHW', out_layout='', ceil_mode=False",
    relay.split: "data, indices_or_sections, axis=0",
    relay.transform.Sequential: "passes=None, opt_level=0, name='sequential', required=None",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_name(name: str) -> None:
    assert hasattr(relay, name)


@pytest.mark.parametrize("thing", SIGNATURES, ids=lambda t: t.__name__)
def test_signature(thing: object) -> None:
    parameters = inspect.signature(thing).parameters.values()  # type: ignore[arg-type]  # functions and classes
    shown = [p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in parameters]
    assert ", ".join(shown) == SIGNATURES[thing]  # a key of the table


def test_old_code() -> None:
    """The first program of many a tutorial, as it was."""
    x = relay.var("x", shape=(1, 3, 224, 224), dtype="float32")
    w = relay.var("w", shape=(64, 3, 7, 7), dtype="float32")
    y = relay.nn.conv2d(x, w, strides=(2, 2), padding=(3, 3))
    mod = tvm.IRModule.from_expr(y)
    mod = relay.transform.InferType()(mod)
    assert str(mod["main"].ret_type) == "Tensor[(1, 64, 112, 112), float32]"
    assert [p.name_hint for p in mod["main"].params] == ["x", "w"]
    assert tvm.ir.structural_equal(mod, relay.fromtext(mod.astext()))


def test_a_visitor_and_a_mutator_as_courses_teach_them() -> None:
    class Count(relay.ExprVisitor):
        def __init__(self) -> None:
            super().__init__()
            self.ops: dict[str, int] = {}

        def visit_call(self, call: relay.Call) -> None:
            if isinstance(call.op, tvm.ir.Op):
                self.ops[call.op.name] = self.ops.get(call.op.name, 0) + 1
            super().visit_call(call)

    class Leaky(relay.ExprMutator):
        def visit_call(self, call: relay.Call) -> relay.Expr:
            mapped = super().visit_call(call)
            if (
                isinstance(mapped, relay.Call)
                and isinstance(mapped.op, tvm.ir.Op)
                and mapped.op.name == "nn.relu"
            ):
                return relay.nn.leaky_relu(mapped.args[0], alpha=0.01)
            return mapped

    x = relay.var("x", shape=(4,))
    function = relay.Function([x], relay.nn.relu(relay.add(relay.nn.relu(x), x)))
    changed = Leaky().visit(function)
    before, after = Count(), Count()
    before.visit(function)
    after.visit(changed)
    assert before.ops == {"nn.relu": 2, "add": 1}
    assert after.ops == {"nn.leaky_relu": 2, "add": 1}
    assert changed.params[0] is x


def test_post_order_visit_sees_each_shared_node_once() -> None:
    x = relay.var("x", shape=(2,))
    shared = relay.exp(x)
    seen: list[str] = []
    relay.analysis.post_order_visit(relay.add(shared, shared), lambda e: seen.append(type(e).__name__))
    assert seen == ["Op", "Op", "Var", "Call", "Call"]


def test_passes_and_context() -> None:
    log: list[str] = []

    @relay.transform.function_pass(opt_level=1, name="Note")
    def note(function: relay.Function, mod: relay.IRModule, ctx: object) -> relay.Function:
        log.append("Note")
        return function

    class Watch:
        def run_before_pass(self, mod: relay.IRModule, info: object) -> None:
            log.append(f"before {info.name}")  # type: ignore[attr-defined]  # a PassInfo

    mod = tvm.IRModule.from_expr(relay.var("x", shape=(1,)))
    pipeline = tvm.transform.Sequential([relay.transform.InferType(), note])
    with tvm.transform.PassContext(opt_level=0, instruments=[Watch()]):
        pipeline(mod)
    assert log == ["before sequential", "before InferType"]
    log.clear()
    with tvm.transform.PassContext(opt_level=0, required_pass=["Note"]):
        pipeline(mod)
    assert log == ["Note"]
    log.clear()
    with tvm.transform.PassContext(opt_level=3, disabled_pass=["Note"]):
        pipeline(mod)
    assert log == []


def test_bind() -> None:
    x, y = relay.var("x", shape=(2,)), relay.var("y", shape=(2,))
    bound = relay.bind(relay.Function([x, y], relay.add(x, y)), {"y": relay.const([1.0, 2.0])})
    assert as_function(bound).params == (x,)
    assert tvm.ir.structural_equal(bound, relay.Function([x], relay.add(x, relay.const([1.0, 2.0]))))


def test_importing_the_package_loads_nothing_heavy() -> None:
    heavy = ["numpy", "lark", "networkx", "tvm", "torch", "IPython", "anywidget"]
    code = f"import sys, relay_explorer; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_programs_are_parsed_and_typed_without_numpy() -> None:
    """So the core also runs where there is no NumPy, as in a browser."""
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "from relay_explorer import relay\n"
        "mod = relay.parse('def @main(%x: Tensor[(2), float32]) { add(%x, 1f) }')\n"
        "print(relay.transform.InferType()(mod)['main'].ret_type)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "Tensor[(2), float32]"


def test_what_compat_does_not_have_says_so() -> None:
    with pytest.raises(AttributeError, match=r"tvm\.lower is not in relay_explorer's tvm: whole programs"):
        _ = tvm.lower


@pytest.mark.parametrize(
    ("place", "name", "words"),
    [
        (
            relay,
            "build",
            "relay_explorer.build compiles; old code's is relay_explorer.compat.tvm.relay.build",
        ),
        (relay.frontend, "from_caffe", "it has from_exported_program, from_keras, from_mxnet"),
        (relay, "expr_functor", "did you mean tvm.relay.ExprFunctor?"),
        (relay.nn, "conv2dd", "did you mean tvm.relay.nn.conv2d"),
        (
            relay.transform,
            "PlanDevices",
            "there is no pass or tool called relay.transform.PlanDevices yet",
        ),
    ],
)
def test_a_name_that_is_not_here_says_what_to_do(place: object, name: str, words: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(place, name)
    assert words in str(caught.value)
    assert not hasattr(place, name)
