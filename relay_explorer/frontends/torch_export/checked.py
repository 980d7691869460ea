"""Admit the JSON of an exported program by an allowlist, before PyTorch interprets it.

PyTorch evaluates parts of this JSON: symbolic sizes as Python expressions, names of values as the source code
of a function, operators as paths of attributes, containers as paths of classes. Here each of them must have
the form that `torch.export.save` writes for programs that can be imported; the rest is left out.
"""

from __future__ import annotations

import ast
import importlib
import json
import keyword
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...ir.errors import RelayError

_FUNCTIONS = frozenset([
    "Symbol", "Integer", "Rational", "Float", "Add", "Mul", "Pow", "Min", "Max", "Mod", "FloorDiv",
    "CleanDiv", "CeilDiv", "PythonMod", "ModularIndexing", "Where", "CeilToInt", "FloorToInt", "RoundToInt",
    "TruncToInt", "TruncToFloat", "RoundDecimal", "ToFloat", "FloatTrueDiv", "IntTrueDiv", "FloatPow",
    "PowByNatural", "Identity", "LShift", "RShift", "floor", "ceiling", "Abs", "Eq", "Ne", "Equality",
    "Unequality", "Lt", "Le", "Gt", "Ge", "StrictLessThan", "LessThan", "StrictGreaterThan", "GreaterThan",
    "And", "Or", "Not",
])  # fmt: skip
_NAMES = frozenset(["true", "false", "oo", "int_oo", "Half", "One", "Zero", "NegativeOne"])
_ASSUMPTIONS = frozenset(["positive", "integer", "nonnegative", "real", "negative", "zero", "precision"])
_SYMBOL = re.compile(r"(?:s|u|f|z|zf|zuf|su)\d{1,9}|[A-Za-z]\w{0,60}")
_NUMBER = re.compile(r"-?\d{1,40}(?:\.\d{0,40})?(?:e[+-]?\d{1,3})?")
_TARGET = re.compile(r"torch\.ops\.([A-Za-z]\w*)\.(_?[A-Za-z]\w*|__\w+__)(?:\.([A-Za-z]\w*))?")
_SCALAR = re.compile(r"(?:_operator|math|torch)\.(\w+)")
_SCALARS = frozenset([
    "add", "sub", "mul", "floordiv", "truediv", "mod", "neg", "pos", "pow", "eq", "ne", "lt", "le", "gt",
    "ge", "and_", "or_", "not_", "getitem", "floor", "ceil", "trunc", "sqrt", "sym_max", "sym_min",
    "sym_int", "sym_float", "sym_not", "sym_ite", "sym_sum",
])  # fmt: skip
_VALUE_NAME = re.compile(r"[A-Za-z_]\w{0,1000}")
_LARGEST = 1 << 63
_DEEPEST = 60  # of a symbolic size, and of graphs in graphs
_LONGEST_SIZE = 20_000  # characters


def checked_program(data: Any) -> dict[str, Any]:
    """Return the JSON of a program with what importing needs; raise a RelayError for anything that
    `torch.export.save` does not write.
    """
    program = _mapping(data, "the program")
    module = _mapping(program.get("graph_module"), "the graph")
    signature = _mapping(module.get("signature"), "the signature")
    _strings(signature, "signature")
    _specs(signature)
    ranges = _mapping(program.get("range_constraints", {}), "the range constraints")
    for name, limits in ranges.items():
        _check_range(name, limits)
    return {
        "graph_module": {
            "graph": _graph(module.get("graph"), 0),
            "signature": signature,
            "module_call_graph": [_flat_call(signature)],
        },
        "opset_version": {"aten": int(_mapping(program.get("opset_version", {}), "versions").get("aten", 0))},
        "range_constraints": ranges,
        "schema_version": _mapping(program.get("schema_version"), "the schema version"),
        "verifiers": [name for name in ("TRAINING", "ATEN") if name in program.get("verifiers", [])],
        "guards_code": [],
    }


def _flat_call(signature: Mapping[str, Any]) -> dict[str, Any]:
    """Return the description of a call whose inputs and outputs are tuples of tensors. The containers of the
    user's are not needed, and reading their classes would import modules that the file names.
    """
    counts = [
        sum(1 for spec in signature[key] if isinstance(spec, dict) and kind in spec)
        for key, kind in (("input_specs", "user_input"), ("output_specs", "user_output"))
    ]
    leaf: dict[str, Any] = {"type": None, "context": None, "children_spec": []}
    inputs, outputs = (
        {"type": "builtins.tuple", "context": "null", "children_spec": [leaf] * count} for count in counts
    )
    options = {"type": "builtins.dict", "context": "[]", "children_spec": []}
    both = {"type": "builtins.tuple", "context": "null", "children_spec": [inputs, options]}
    specs = {"in_spec": json.dumps([1, both]), "out_spec": json.dumps([1, outputs])}
    return {"fqn": "", "signature": {"inputs": [], "outputs": [], **specs}}


class _PlacedError(RelayError):
    """A node that is not admitted; the message says which."""


def _mapping(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise RelayError(f"{what} is not a JSON object")
    return value


def _sequence(value: Any, what: str) -> Sequence[Any]:
    if not isinstance(value, list):
        raise RelayError(f"{what} is not a JSON array")
    return value


def _check_range(name: str, limits: Any) -> None:
    bounds = _mapping(limits, "a range constraint")
    if not _SYMBOL.fullmatch(name):
        raise RelayError(f"the size `{name:.60}` has a name that torch.export does not give")
    if name[0] in "uz" and int(re.sub(r"\D", "", name) or 0) > 100_000:
        raise RelayError(f"the number in the name of the size `{name:.60}` exceeds 100,000")
    for bound in bounds.values():
        if bound is not None and type(bound) is not int:
            raise RelayError(f"the bounds of the size `{name}` are not integers")


def _specs(signature: Mapping[str, Any]) -> None:
    for spec in _sequence(signature.get("input_specs"), "`input_specs` of the signature"):
        if isinstance(spec, dict) and "custom_obj" in spec:
            raise RelayError("the program uses a custom object, which is stored as a pickle and not loaded")
    _sequence(signature.get("output_specs"), "`output_specs` of the signature")


def _graph(value: Any, depth: int) -> dict[str, Any]:
    """Return a graph with its nodes checked and their metadata reduced to strings that are only shown."""
    graph = _mapping(value, "a graph")
    if depth > _DEEPEST:
        raise RelayError(f"graphs are nested more than {_DEEPEST} deep")
    if graph.get("custom_obj_values"):
        raise RelayError("the program uses a custom object, which is stored as a pickle and not loaded")
    result = dict(graph)
    for key in ("tensor_values", "sym_int_values", "sym_bool_values", "sym_float_values"):
        for name, described in _mapping(graph.get(key, {}), f"`{key}` of a graph").items():
            check_name(name)
            _sizes(described, name[:60], 0)
    for key in ("inputs", "outputs"):
        listed = _sequence(graph.get(key), f"`{key}` of a graph")
        result[key] = [_argument(argument, f"an element of `{key}` of a graph", depth) for argument in listed]
    nodes = _sequence(graph.get("nodes"), "`nodes` of a graph")
    result["nodes"] = [_placed_node(node, number, depth) for number, node in enumerate(nodes)]
    return result


def _placed_node(value: Any, number: int, depth: int) -> dict[str, Any]:
    """Return a checked node; an error names it by its number and its target."""
    try:
        return _node(value, depth)
    except _PlacedError:
        raise  # a node of a subgraph
    except RelayError as error:
        target = value.get("target") if isinstance(value, dict) else None
        shown = f" ({target.removeprefix('torch.ops.')[:80]})" if isinstance(target, str) else ""
        place = f"node {number}{shown}{' of a subgraph' if depth else ''}"
        raise _PlacedError(f"{place}: {error.message}") from error


def _node(value: Any, depth: int) -> dict[str, Any]:
    node = _mapping(value, "the node")
    result = dict(node)
    check_target(node.get("target"))
    if node.get("name") is not None:
        check_name(node["name"])
    inputs = []
    for entry in _sequence(node.get("inputs"), "`inputs`"):
        argument = _mapping(entry, "an argument")
        if argument.get("name"):
            check_name(argument["name"])
        inputs.append({**argument, "arg": _argument(argument.get("arg"), "an argument", depth)})
    result["inputs"] = inputs
    outputs = _sequence(node.get("outputs"), "`outputs`")
    result["outputs"] = [_argument(output, "an output", depth) for output in outputs]
    metadata = _mapping(node.get("metadata", {}), "`metadata`")
    result["metadata"] = {
        key: metadata[key]
        for key in ("stack_trace", "nn_module_stack")
        if isinstance(metadata.get(key), str) and (key == "stack_trace" or _is_module_stack(metadata[key]))
    }
    return result


def _is_module_stack(text: str) -> bool:
    """Whether each entry of a module stack has its three parts."""
    flat = text
    while (shorter := re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "", flat)) != flat:
        flat = shorter
    return all(entry.count(",") == 2 for entry in flat.split(";"))


def _argument(value: Any, what: str, depth: int) -> dict[str, Any]:
    argument = _mapping(value, what)
    if len(argument) != 1:
        raise RelayError(f"{what} is malformed: it must have one entry, its kind, not {len(argument)}")
    ((kind, content),) = argument.items()
    if kind == "as_graph":
        graph = _mapping(content, "a graph")
        check_name(graph.get("name"))
        return {kind: {**graph, "graph": _graph(graph.get("graph"), depth + 1)}}
    if kind in ("as_custom_obj", "as_operator"):
        raise RelayError("the program refers to an object other than a tensor, which is not loaded")
    if kind == "as_string_to_argument":
        return {kind: {k: _argument(v, what, depth + 1) for k, v in _mapping(content, what).items()}}
    if kind not in ("as_string", "as_strings"):
        _strings(content, kind)
    return argument


def _strings(value: Any, what: str, depth: int = 0) -> None:
    """Check every string in an argument or the signature: a name of a value, or of a parameter."""
    if depth > _DEEPEST:
        raise RelayError(f"{what} is nested more than {_DEEPEST} deep")
    if isinstance(value, dict):
        for key, part in value.items():
            if key in ("parameter_name", "buffer_name", "tensor_constant_name") and isinstance(part, str):
                continue  # a key of a dictionary, never part of code
            if key == "type" and part in ("cpu", "cuda", "meta", "mps", "xpu"):
                continue
            if key == "value" and isinstance(part, dict) and set(part) == {"as_string"}:
                continue
            _strings(part, what, depth + 1)
    elif isinstance(value, list):
        for part in value:
            _strings(part, what, depth + 1)
    elif isinstance(value, str):
        if value not in ("", "NaN", "Infinity", "-Infinity"):
            check_name(value)
    elif type(value) is int and abs(value) >= _LARGEST:
        raise RelayError(f"{what} contains a number of more than 64 bits")


def check_name(name: Any) -> None:
    """Raise a RelayError unless `name` is an identifier: PyTorch makes Python code of it."""
    if not isinstance(name, str) or not _VALUE_NAME.fullmatch(name) or name.startswith("__"):
        raise RelayError(f"a value has the name {str(name)[:60]!r}, which is not an identifier")
    if keyword.iskeyword(name):
        raise RelayError(f"a value has the name {name!r}, which is a keyword of Python")


def check_target(target: Any) -> None:
    """Raise a RelayError unless `target` names an operator of PyTorch, or arithmetic with sizes."""
    import torch

    text = target if isinstance(target, str) else ""
    scalar = _SCALAR.fullmatch(text)
    if scalar is not None and (scalar[1] in _SCALARS or re.fullmatch(r"_sym_\w+", scalar[1])):
        return
    match = _TARGET.fullmatch(text)
    if match is not None:
        if match[1] == "quantized_decomposed":
            import torch.ao.quantization.fx._decomposed  # registers these operators
        elif match[1] == "torchao" and not hasattr(torch.ops.torchao, match[2]):
            _import_torchao()
        operator: Any = torch.ops
        for part in match.groups():
            operator = getattr(operator, part, None) if part is not None else operator
        if isinstance(operator, (torch._ops.OpOverload, torch._ops.HigherOrderOperator)):
            return
    raise RelayError(f"its target {str(target)[:80]!r} is not an operator that PyTorch has registered")


def _import_torchao() -> None:
    """Register the operators of torchao, which a program needs that `torchao.quantization` has quantized."""
    try:
        importlib.import_module("torchao.quantization")
    except ModuleNotFoundError as error:
        if error.name != "torchao":
            raise
        raise RelayError(
            "its operator is one of torchao, which is not installed: pip install torchao"
        ) from None


def _sizes(value: Any, name: str, depth: int) -> None:
    """Check the description of a tensor or of a symbolic size, the value `name`."""
    if depth > _DEEPEST:
        raise RelayError(f"the description of the value `{name}` is nested more than {_DEEPEST} deep")
    if isinstance(value, dict):
        for key, part in value.items():
            if key == "expr_str":
                check_size(part)
            else:
                _sizes(part, name, depth + 1)
    elif isinstance(value, list):
        for part in value:
            _sizes(part, name, depth + 1)
    elif type(value) is int and abs(value) >= _LARGEST:
        raise RelayError(f"the description of the value `{name}` contains a number of more than 64 bits")
    elif isinstance(value, str) and value not in ("cpu", "cuda", "meta", "mps", "xpu"):
        raise RelayError(
            f"the description of the value `{name}` contains {value[:60]!r}, which torch.export does not "
            "write"
        )


def check_size(text: Any) -> None:
    """Raise a RelayError unless `text` is arithmetic with sizes, in SymPy's notation."""
    if not isinstance(text, str) or len(text) > _LONGEST_SIZE:
        raise RelayError(f"a symbolic size is not a text of at most {_LONGEST_SIZE:,} characters")
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise RelayError(f"the symbolic size {text[:60]!r} is not an expression") from error
    if not _is_arithmetic(tree, 0):
        raise RelayError(f"the symbolic size {text[:60]!r} is not arithmetic with sizes")


def _is_arithmetic(node: ast.expr, depth: int) -> bool:
    if depth > _DEEPEST:
        return False
    match node:
        case ast.Constant(value=bool()):
            return True
        case ast.Constant(value=int() | float() as number):
            return abs(number) < _LARGEST
        case ast.Name(id=name):
            return name in _NAMES or (_SYMBOL.fullmatch(name) is not None and name[-1].isdigit())
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            return _is_arithmetic(operand, depth + 1)
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div() | ast.FloorDiv() | ast.Mod()):
            return _is_arithmetic(node.left, depth + 1) and _is_arithmetic(node.right, depth + 1)
        case ast.BinOp(op=ast.Pow(), left=base, right=exponent):
            return _is_arithmetic(base, depth + 1) and _is_small_power(exponent)
        case ast.Compare(left=left, comparators=others):
            return all(_is_arithmetic(part, depth + 1) for part in (left, *others))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=assumed) if name in _FUNCTIONS:
            return _is_call(name, args, assumed, depth)
    return False


def _is_call(name: str, args: list[ast.expr], assumed: list[ast.keyword], depth: int) -> bool:
    for assumption in assumed:
        if assumption.arg not in _ASSUMPTIONS or not isinstance(assumption.value, ast.Constant):
            return False
        if not isinstance(assumption.value.value, (bool, int)) or abs(assumption.value.value) > 200:
            return False
    if name in ("Symbol", "Float", "Integer", "Rational"):
        pattern = _SYMBOL if name == "Symbol" else _NUMBER
        return len(args) in (1, 2) and all(_is_literal(arg, pattern) for arg in args)
    if name in ("Pow", "PowByNatural", "FloatPow", "LShift", "RShift"):
        return len(args) == 2 and _is_arithmetic(args[0], depth + 1) and _is_small_power(args[1])
    return all(_is_arithmetic(arg, depth + 1) for arg in args)


def _is_literal(node: ast.expr, text: re.Pattern[str]) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    if not isinstance(node, ast.Constant):
        return False
    if isinstance(node.value, str):
        return text.fullmatch(node.value) is not None
    number = node.value
    return isinstance(number, (int, float)) and abs(number) < _LARGEST


def _is_small_power(node: ast.expr) -> bool:
    """Whether a node is a number of at most 16 in magnitude: larger powers could fill the memory."""
    try:
        number = ast.literal_eval(node)
    except ValueError:
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1):
            return False
        return node.func.id in ("Integer", "Float") and _is_small_power(node.args[0])
    return isinstance(number, (int, float)) and abs(number) <= 16
