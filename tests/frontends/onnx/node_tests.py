"""ONNX's own tests of its operators, run by the importer and Relay's interpreter.

    python -m tests.frontends.onnx.node_tests [FOLDER] [-k PART] [--constant] [--write]

A test is a model of one operator, or of the operators that an operator is defined by (`_expanded`), with
inputs and outputs. The onnx package 1.17.0 ships them as files, in `onnx/backend/test/data/node`; later
packages contain only the scripts that generate them, which run when no FOLDER is given.
"""

from __future__ import annotations

import argparse
import re
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

TABLE = Path(__file__).with_name("node_tests.txt")  # of onnx 1.17.0
NEWEST = Path(__file__).with_name("node_tests_generated.txt")  # of the onnx in the main environment

TYPES = {
    "FLOAT", "UINT8", "INT8", "UINT16", "INT16", "INT32", "INT64", "BOOL", "FLOAT16", "DOUBLE", "UINT32",
    "UINT64", "BFLOAT16",
}  # fmt: skip
"""The element types that Relay has, by ONNX's names."""

RANDOM = {
    "Bernoulli",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "Multinomial",
}
"""Operators whose results are random, so that only types and shapes can be compared."""

_WRAPPED = "the stored outputs wrapped around where the operator saturates; later versions have our results"
DISPUTED = {
    "qlinearmatmul_2D_int8_float16": _WRAPPED,
    "qlinearmatmul_2D_int8_float32": _WRAPPED,
    "qlinearmatmul_3D_int8_float16": _WRAPPED,
    "qlinearmatmul_3D_int8_float32": _WRAPPED,
    "adam_multiple": "the stored outputs are for epsilon=0.01, which the node does not have",
    "averagepool_3d_dilations_large_count_include_pad_is_1_ceil_mode_is_True": (
        "the stored outputs count elements beyond the padding; ONNX Runtime gives our results"
    ),
}
"""Tests of onnx 1.17.0 whose outputs are wrong, and why."""

_EXPANDED = re.compile(r"_expanded.*$")


KINDS = ("passed", "constant", "refused", "disputed", "foreign", "failed")


@dataclass(frozen=True)
class Case:
    """A test: a model, and pairs of inputs and outputs. A sequence is a list; None is an absent optional."""

    name: str
    model: Any
    data: Sequence[tuple[Sequence[Any], Sequence[Any]]]
    rtol: float = 1e-3
    atol: float = 1e-5

    @property
    def tolerance(self) -> tuple[float, float]:
        """The relative and the absolute difference allowed; for bfloat16, two units in the last place."""
        kinds = {
            info.type.tensor_type.elem_type for info in [*self.model.graph.input, *self.model.graph.output]
        }
        return (2.0**-6, 2.0**-7) if 16 in kinds else (self.rtol, self.atol)

    @property
    def operators(self) -> set[str]:
        """The names of all operators in the model, in subgraphs and functions too."""
        graphs = [self.model.graph, *self.model.functions]
        names: set[str] = set()
        for graph in graphs:
            for node in graph.node:
                names.add(node.op_type)
                graphs += [a.g for a in node.attribute if a.HasField("g")]
        return names

    @property
    def operator(self) -> str:
        """The operator that the test is about, as far as a single node shows it; else the test's name."""
        nodes = self.model.graph.node
        return nodes[0].op_type if len(nodes) == 1 else _EXPANDED.sub("", self.name)


@dataclass(frozen=True)
class Outcome:
    """What became of a test. `kind` is "passed"; "constant", where it passes only with the operands after the
    first as weights, as exporters write scales, axes and pads; "refused", where the importer raised an error
    that says why; "foreign", where the test has types that Relay does not have; "disputed", where the stored
    outputs are wrong; or "failed".
    """

    case: Case
    kind: str
    reason: str = ""


def from_folder(folder: Path, part: str = "") -> Iterator[Case]:
    """Read the tests whose names contain `part` from a folder of ONNX's package."""
    import onnx

    for path in sorted(folder.glob(f"test_*{part}{'*' if part else ''}/model.onnx")):
        model = onnx.load(path)
        data = []
        for pair in sorted(path.parent.glob("test_data_set_*")):
            inputs = [_value(pair / f"input_{i}.pb", v) for i, v in enumerate(model.graph.input)]
            outputs = [_value(pair / f"output_{i}.pb", v) for i, v in enumerate(model.graph.output)]
            data.append((inputs, outputs))
        yield Case(path.parent.name.removeprefix("test_"), model, data)


def generated(part: str = "") -> Iterator[Case]:
    """Generate the tests whose names contain `part` with the scripts in the installed package."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        cases = collect_testcases(None)
    for case in sorted(cases, key=lambda case: case.name):
        if part in case.name:
            data = [
                (list(map(_plain, inputs)), list(map(_plain, outputs)))
                for inputs, outputs in case.data_sets or []
            ]
            yield Case(case.name.removeprefix("test_"), case.model, data, case.rtol, max(case.atol, 1e-5))


def _plain(value: Any) -> Any:
    """Convert a generated value to arrays and lists of them."""
    import onnx
    from onnx import numpy_helper

    if isinstance(value, onnx.TensorProto):
        return _array(value)
    if isinstance(value, onnx.SequenceProto):
        return numpy_helper.to_list(value)
    if isinstance(value, onnx.OptionalProto):
        return numpy_helper.to_optional(value)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if value is None:
        return None
    array = np.asarray(value)
    return array.astype("float32") if array.dtype.name == "bfloat16" else array


def _value(path: Path, info: Any) -> Any:
    """Read a stored value whose type the model declares."""
    import onnx
    from onnx import numpy_helper

    kind = info.type.WhichOneof("value")
    content = path.read_bytes()
    if kind == "sequence_type":
        return numpy_helper.to_list(onnx.SequenceProto.FromString(content))
    if kind == "optional_type":
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(content))
    return _array(onnx.TensorProto.FromString(content), info.type.tensor_type.elem_type)


def _array(tensor: Any, declared: int = 0) -> Any:
    """Return the array of a tensor; Relay's interpreter holds bfloat16 in float32."""
    import onnx
    from onnx import numpy_helper

    if onnx.TensorProto.BFLOAT16 not in (tensor.data_type, declared):  # onnx 1.17.0 stored uint16
        return numpy_helper.to_array(tensor)
    halves = np.frombuffer(tensor.raw_data, "<u2") if tensor.raw_data else np.array(tensor.int32_data, "<u2")
    return (halves.astype("<u4") << 16).view("<f4").reshape(tuple(tensor.dims))


def run(case: Case) -> Outcome:
    """Run a test, and once more with constant operands if it is refused."""
    outcome = run_once(case)
    if outcome.kind == "failed" and case.name in DISPUTED:
        return Outcome(case, "disputed", DISPUTED[case.name])
    if outcome.kind == "refused":
        constant = with_constants(case)
        again = outcome if constant is None else run_once(constant)
        if again.kind == "passed":
            return Outcome(case, "constant", outcome.reason)
        if again.kind == "failed":
            return Outcome(case, "failed", f"with constant operands: {again.reason}")
    return outcome


def with_constants(case: Case) -> Case | None:
    """Return a test with all operands but the first as weights; None where that changes nothing."""
    import onnx
    from onnx import numpy_helper

    inputs = case.model.graph.input
    fixed = [i for i, info in enumerate(inputs) if i and info.type.WhichOneof("value") == "tensor_type"]
    if foreign_types(case.model):
        return None
    first = case.data[0][0][0] if case.data and inputs else None
    if first is not None and not isinstance(first, list) and np.ndim(first) == 0:
        fixed = [0, *fixed]
    if not fixed or len(case.data) != 1:
        return None
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    for index in reversed(fixed):
        array = np.asarray(case.data[0][0][index])
        tensor = numpy_helper.from_array(array, inputs[index].name)
        if tensor.data_type != inputs[index].type.tensor_type.elem_type:
            return None  # bfloat16, which this onnx reads as float32
        model.graph.initializer.append(tensor)
        del model.graph.input[index]
    data = [
        ([value for i, value in enumerate(values) if i not in fixed], outputs)
        for values, outputs in case.data
    ]
    return Case(case.name, model, data, case.rtol, case.atol)


def run_once(case: Case) -> Outcome:
    """Import a test's model, run it on its inputs, and compare the results."""
    from relay_explorer.execute import Executor
    from relay_explorer.frontends import from_onnx
    from relay_explorer.ir.errors import RelayError
    from relay_explorer.typing import infer_types

    try:
        mod, params = from_onnx(case.model, shape=element_shapes(case) or None)
    except RelayError as error:
        return Outcome(case, "foreign" if _foreign(case) else "refused", _line(error))
    except Exception as error:
        return Outcome(case, "failed", f"the importer raised {type(error).__name__}: {_line(error)}")
    mod = infer_types(without_bfloat16(mod))
    main = mod["main"]
    for inputs, outputs in case.data:
        names = [v.name for v in case.model.graph.input]
        values = dict(zip(names, inputs))
        try:
            args = [
                params[var.name_hint]
                if var.name_hint in params
                else argument(values[var.name_hint], var.checked_type, mod)
                for var in main.params
            ]
            result = Executor("debug", mod).evaluate()(*args)
        except Exception as error:
            return Outcome(case, "failed", f"running raised {type(error).__name__}: {_line(error)}")
        results = list(result) if isinstance(result, tuple) else [result]
        if len(results) != len(outputs):
            return Outcome(case, "failed", f"{len(results)} results instead of {len(outputs)}")
        for value, expected in zip(results, outputs):
            problem = difference(plain(value), expected, case, bool(case.operators & RANDOM))
            if problem:
                return Outcome(case, "failed", problem)
    return Outcome(case, "passed")


def without_bfloat16(mod: Any) -> Any:
    """Return a module whose `@main` takes float32 where it took bfloat16, which NumPy does not have."""
    from relay_explorer import relay
    from relay_explorer.ir.bind import bind

    main = mod["main"]
    binds, params = {}, []
    for var in main.params:
        type_ = var.type_annotation
        if getattr(type_, "dtype", "") == "bfloat16":
            wide = relay.var(var.name_hint, shape=type_.shape, dtype="float32")
            binds[var] = relay.cast(wide, "bfloat16")
            params.append(wide)
        else:
            params.append(var)
    if binds:
        mod["main"] = relay.Function(params, bind(main.body, binds))
    return mod


def element_shapes(case: Case) -> dict[str, list[Any]]:
    """Return shapes for sequences whose elements have none in the model: `?` for each of their axes."""
    from relay_explorer import relay

    found: dict[str, list[Any]] = {}
    for index, info in enumerate(case.model.graph.input):
        type_ = info.type
        if type_.WhichOneof("value") == "optional_type":
            type_ = type_.optional_type.elem_type
        if type_.WhichOneof("value") != "sequence_type":
            continue
        values = [case.data[0][0][index], *case.data[0][1]] if case.data else []
        items = next((value for value in values if isinstance(value, list) and value), [])
        if items and not type_.sequence_type.elem_type.tensor_type.shape.dim:
            found[info.name] = [relay.Any() for _ in np.shape(items[0])]
    return found


def argument(value: Any, type_: Any, mod: Any) -> Any:
    """Convert an input of a test to an argument of `@main` of a type."""
    from relay_explorer.execute.lists import make_list
    from relay_explorer.execute.results import ConstructorValue

    if getattr(getattr(type_, "func", None), "name_hint", "") == "Option":
        _, some, none = mod.get_type("Option")
        if value is None:
            return ConstructorValue(none.tag, [], none)
        return ConstructorValue(some.tag, [argument(value, type_.args[0], mod)], some)
    if isinstance(value, list):
        return make_list(mod, [argument(item, type_.args[0], mod) for item in value])
    return value


def plain(value: Any) -> Any:
    """Convert a result of `@main` to arrays, lists of them, and None."""
    from relay_explorer.execute.lists import list_items

    constructor = getattr(value, "constructor", None)
    if constructor is None:
        return np.asarray(value)
    if constructor.name_hint == "Some":
        return plain(value.fields[0])
    if constructor.name_hint == "None":
        return None
    return [plain(item) for item in list_items(value)]


def difference(value: Any, expected: Any, case: Case, random: bool = False) -> str:
    """Say how a result differs from what is expected; empty where it does not."""
    if expected is None or isinstance(expected, list):
        if value is None or expected is None or not isinstance(value, list):
            return "" if value is expected else f"{value!r:.60} instead of {expected!r:.60}"
        if len(value) != len(expected):
            return f"a sequence of {len(value)} instead of {len(expected)}"
        return next(filter(None, (difference(v, e, case, random) for v, e in zip(value, expected))), "")
    if not isinstance(value, np.ndarray):
        return f"{value!r:.60} instead of an array"
    if value.dtype != expected.dtype:
        return f"the type is {value.dtype} instead of {expected.dtype}"
    if value.shape != expected.shape:
        return f"the shape is {value.shape} instead of {expected.shape}"
    if random:
        return ""
    try:
        rtol, atol = case.tolerance
        np.testing.assert_allclose(value, expected, rtol=rtol, atol=atol)
    except AssertionError as error:
        return " ".join(str(error).split())[:160]
    return ""


def _foreign(case: Case) -> bool:
    """Whether a model has types that Relay does not have."""
    return bool(foreign_types(case.model))


def foreign_types(model: Any) -> set[str]:
    """Return the element types in a model, by ONNX's names, that Relay does not have."""
    import onnx

    kinds: set[int] = set()

    def declared(type_: Any) -> None:
        kind = type_.WhichOneof("value")
        if kind == "tensor_type":
            kinds.add(type_.tensor_type.elem_type)
        elif kind in ("sequence_type", "optional_type"):
            declared(getattr(type_, kind).elem_type)

    graphs = [model.graph]
    nodes = [node for function in model.functions for node in function.node]
    for graph in graphs:
        for info in [*graph.input, *graph.output, *graph.value_info]:
            declared(info.type)
        kinds.update(tensor.data_type for tensor in graph.initializer)
        nodes += graph.node
        graphs += [a.g for node in graph.node for a in node.attribute if a.HasField("g")]
    for node in nodes:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                kinds.add(attribute.t.data_type)
            if attribute.name in ("to", "dtype", "output_dtype"):
                kinds.add(attribute.i)
            if attribute.name.startswith("value_string") or node.op_type in ("ImageDecoder",):
                kinds.add(onnx.TensorProto.STRING)
    names = {onnx.TensorProto.DataType.Name(kind) for kind in kinds if kind}
    return names - TYPES


def table(outcomes: Iterable[Outcome]) -> str:
    """Write the outcomes as a table: a row for each operator, and below it what was not passed and why."""
    rows: dict[str, list[Outcome]] = {}
    outcomes = list(outcomes)
    operators = {o.case.name: o.case.operator for o in outcomes}
    for outcome in outcomes:
        rows.setdefault(_row(outcome.case, operators), []).append(outcome)
    lines = [summary(outcomes), ""]
    for operator, group in sorted(rows.items(), key=lambda row: row[0].lower()):
        kinds = Counter(o.kind for o in group)
        others = "".join(f", {kinds[k]} {k}" for k in KINDS if kinds[k] and k != "passed")
        lines.append(f"{operator}: {kinds['passed']} of {len(group)} passed{others}")
        reasons: dict[tuple[str, str], list[str]] = {}
        for outcome in group:
            if outcome.kind != "passed":
                reasons.setdefault((outcome.kind, outcome.reason), []).append(outcome.case.name)
        for (kind, reason), names in reasons.items():
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            lines.append(f"    {kind}: {', '.join(names[:3])}{more}: {reason}")
    return "\n".join(lines) + "\n"


def summary(outcomes: Sequence[Outcome]) -> str:
    """Write the numbers of all tests in one line."""
    kinds = Counter(o.kind for o in outcomes)
    counted = len(outcomes) - kinds["foreign"] - kinds["disputed"]
    share = 100 * (kinds["passed"] + kinds["constant"]) / max(1, counted)
    listed = ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS)
    return f"{len(outcomes)} tests: {listed}. Of those whose types Relay has, {share:.1f} % pass."


def _row(case: Case, operators: Mapping[str, str]) -> str:
    """Return the operator that a test is about; that of the test of the same name, if it is expanded."""
    name = _EXPANDED.sub("", case.name)
    return operators.get(name, operators[case.name])


def _line(error: BaseException) -> str:
    lines = str(error).splitlines() or [""]
    return lines[0][:200]


def main() -> None:
    """Run the tests that the command line names, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("-k", default="", help="only tests whose names contain this")
    parser.add_argument("--constant", action="store_true", help="with all operands but the first as weights")
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name} or {NEWEST.name}")
    options = parser.parse_args()
    start = time.time()
    cases = from_folder(options.folder, options.k) if options.folder else generated(options.k)
    if options.constant:
        cases = filter(None, map(with_constants, cases))
    outcomes = [run(case) for case in cases]
    text = table(outcomes)
    if options.write:
        (TABLE if options.folder else NEWEST).write_text(text)
    print(text, f"{time.time() - start:.0f} s", sep="\n")


if __name__ == "__main__":
    main()
