"""Executors: evaluate expressions and call functions of a module from Python, without a compiler."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..ir.errors import RelayError, TypeInferenceError
from ..ir.expr import Call, Expr, Function, GlobalVar, Let, Var, as_expr
from ..ir.hooks import provide
from ..ir.module import IRModule
from ..ir.show import ordinal
from ..ir.types import TensorType, TupleType, Type, is_complete
from ..ir.walk import free_type_vars, post_order
from ..typing import check_types
from .arguments import check_arguments
from .interpreter import Interpreter
from .results import MAX_TUPLE_DEPTH, Wrapper, to_result, to_value
from .values import Closure, Value


class Executor:
    """Evaluates expressions in a module, with the interpreter ("debug"), or with the virtual machine, whose
    kernels are NumPy's ("vm"). `lower.executor` has an executor that compiles.
    """

    def __init__(self, kind: str, mod: IRModule, device: object = None, target: object = "llvm") -> None:
        self.kind = kind
        self.mod = mod
        self.device = device
        self.target = target

    def interpreter(self) -> Interpreter:
        """Create the interpreter that runs programs of the module."""
        if self.kind != "vm":
            return Interpreter(self.mod)
        from .vm.executor import VMInterpreter

        return VMInterpreter(self.mod)

    def evaluate(self, expr: Expr | None = None, binds: Mapping[Var, object] | None = None) -> Any:
        """Evaluate `expr`, in which the variables of `binds` have values.

        Tensors are returned as NDArrays (`.numpy()`), tuples as tuples (by the executor "graph" as lists),
        constructed values with `.constructor`, `.tag` and `.fields`, cells with `.value`. A Function or
        GlobalVar, or `@main` where `expr` is None, is returned as a Python function of such values, NumPy
        arrays and numbers, which take the element types of the parameters; arguments may be given by name.
        Types are checked first: a TypeInferenceError explains what is wrong. An ExecutionError says where a
        program failed at run time.
        """
        interpreter = self.interpreter()
        if expr is None:
            expr = self.mod.get_global_var("main")
        expr = as_expr(expr)
        values: dict[Var, Value] = {}
        for var, value in reversed(list((binds or {}).items())):
            if isinstance(value, Wrapper):
                values[var] = value.inner
            else:
                expr = Let(var, as_expr(value), expr)
        if isinstance(expr, (Function, GlobalVar)):
            return FunctionValue(interpreter, interpreter.evaluate(expr), expr, self.kind == "graph")
        if not values:
            _check(self.mod, Function([], expr))
        result = interpreter.evaluate(expr, values)
        return to_result(result, lambda closure: FunctionValue(interpreter, closure))


provide("executor", Executor)


class FunctionValue(Wrapper):
    """A function of a program that can be called from Python. `expr` is the function in the program, None
    where it was created at run time; its arguments are then checked only by running it.

    `converts`: whether NumPy arrays and numbers take the parameters' element types, as did the inputs of
    TVM's graph executor, which were copied into its buffers.
    """

    __slots__ = ("_checked", "converts", "expr", "interpreter")

    def __init__(
        self, interpreter: Interpreter, value: Value, expr: Expr | None = None, converts: bool = False
    ) -> None:
        self.converts = converts
        self.inner = value
        self.interpreter = interpreter
        self.expr = expr
        self.from_function = lambda closure: FunctionValue(interpreter, closure)
        self._checked: set[tuple[Type, ...]] = set()

    def __call__(self, *args: object, **kwargs: object) -> Any:
        values = self.arguments(args, kwargs)
        if isinstance(self.inner, Closure):
            return self._result(self.interpreter.call(self.inner, values))
        slots = [Var(f"argument_{k}") for k in range(len(values))]
        callee = Var("callee")
        bindings = dict(zip([callee, *slots], [self.inner, *values]))
        return self._result(self.interpreter.evaluate(Call(callee, slots), bindings))

    def _result(self, value: Value) -> Any:
        """Convert a result. TVM's graph executor returned lists for tuples, which old code relies on."""
        result = to_result(value, self.from_function)
        return _listed(result) if self.converts else result

    def arguments(self, args: Sequence[object], named: Mapping[str, object]) -> list[Value]:
        """Convert a call's arguments to the interpreter's values, in order, and check their types."""
        params = self._params()
        ordered = in_order([p.name_hint for p in params], args, named)
        expected = [p.type_annotation for p in params[: len(ordered)]]
        expected += [None] * (len(ordered) - len(expected))
        values = [self._value(argument, type_) for argument, type_ in zip(ordered, expected)]
        check_arguments(params, values, self.interpreter.module)
        if self.expr is not None:
            self._check_arguments(self.expr, params, values)
        return values

    def _params(self) -> Sequence[Var]:
        function = getattr(self.inner, "function", None)
        if isinstance(self.expr, GlobalVar):
            function = self.interpreter.module[self.expr]
        elif isinstance(self.expr, Function):
            function = self.expr
        return function.params if isinstance(function, Function) else ()

    def _value(self, argument: object, expected: Type | None) -> Value:
        """Convert an argument; an expression is evaluated first."""
        if isinstance(argument, Expr):
            return self.interpreter.evaluate(argument)
        plain = type(argument) in (int, float) or type(argument).__module__ == "numpy"
        if self.converts and isinstance(expected, TensorType) and plain:
            import numpy

            argument = numpy.asarray(argument).astype(expected.dtype)
        return to_value(_numbered(argument, expected))

    def _check_arguments(self, callee: Expr, params: Sequence[Var], values: Sequence[Value]) -> None:
        """Infer the types of the call, once for each combination of argument types; skip it where the type of
        an argument is unknown.
        """
        expected = [p.type_annotation for p in params] if len(params) == len(values) else [None] * len(values)
        types = [_type_of(value, type_) for value, type_ in zip(values, expected)]
        known_types = tuple([t for t in types if t is not None])
        if len(known_types) < len(types) or known_types in self._checked:
            return
        arguments = [Var(f"argument_{k}", type_) for k, type_ in enumerate(known_types)]
        try:
            _check(self.interpreter.module, Function(arguments, Call(callee, arguments, span=callee.span)))
        except TypeInferenceError as error:
            raise _about_values(error) from None
        self._checked.add(known_types)


def _about_values(error: TypeInferenceError) -> TypeInferenceError:
    """Reword an error about arguments so that it does not name variables that only the check has."""

    def named(text: str) -> str:
        text = re.sub(
            r"`%argument_(\d+)` is annotated",
            lambda m: f"the {ordinal(int(m[1]))} argument is a value from Python of type",
            text,
        )
        return re.sub(r"`%argument_(\d+)`", lambda m: f"the {ordinal(int(m[1]))} value from Python", text)

    notes = [note._replace(message=named(note.message)) for note in error.notes]
    return TypeInferenceError(named(error.message), error.span, notes, error.help)


def in_order(names: Sequence[str], args: Sequence[object], named: Mapping[str, object]) -> list[object]:
    """Return the positional arguments, followed by the named ones in the order of the parameters."""
    if not named:
        return list(args)
    unknown = [name for name in named if name not in names]
    if unknown:
        raise RelayError(
            f"the function has no parameter `%{unknown[0][:60]}`",
            help=[f"its parameters are {', '.join(f'`%{name}`' for name in names)}"] if names else [],
        )
    twice = [name for name in names[: len(args)] if name in named]
    if twice:
        raise RelayError(f"the parameter `%{twice[0]}` is given by position and by name")
    missing = [name for name in names[len(args) :] if name not in named]
    if missing:
        raise RelayError(f"the parameter `%{missing[0]}` is not given")
    return [*args, *[named[name] for name in names[len(args) :]]]


def _numbered(argument: object, expected: Type | None, depth: int = 0) -> object:
    """Give Python's own numbers in an argument, and lists of them for a tensor, which have no element type,
    that of the parameter. A number that the parameter cannot represent is left as it is, and is refused
    later.
    """
    if isinstance(expected, TensorType) and type(argument) is list:
        return _array_of(argument, expected.dtype)
    if isinstance(expected, TupleType) and isinstance(argument, (tuple, list)):
        if depth < MAX_TUPLE_DEPTH and len(argument) == len(expected.fields):
            return tuple([_numbered(a, w, depth + 1) for a, w in zip(argument, expected.fields)])
        return argument
    if isinstance(expected, TensorType) and not expected.shape and type(argument) in (int, float):
        import numpy

        if expected.dtype.startswith(("float", "int", "uint") if type(argument) is int else "float"):
            try:
                return numpy.array(argument, expected.dtype)
            except (OverflowError, TypeError):
                return argument
    return argument


def _array_of(numbers: list[object], dtype: str) -> object:
    """Return an array of nested lists of numbers; the list itself where it is not one, or has others than
    `dtype` can represent.
    """
    import numpy

    try:
        array = numpy.array(numbers)
        converted = array.astype(dtype)
    except (ValueError, TypeError, OverflowError):
        return numbers
    exact = array.dtype.kind in "bif" and (converted.dtype.kind == "f" or bool((converted == array).all()))
    return converted if exact else numbers


def _listed(result: Any) -> Any:
    """Return a result with lists for tuples."""
    return [_listed(part) for part in result] if isinstance(result, tuple) else result


def _type_of(value: Value, expected: Type | None) -> Type | None:
    """Return the type of an argument; None where it is unknown. If the parameter's type leaves sizes open,
    and the value fits, return that type.
    """
    if hasattr(value, "dtype"):
        actual = TensorType(value.shape, str(value.dtype))
        return expected if isinstance(expected, TensorType) and _fits(actual, expected) else actual
    if isinstance(value, tuple):
        fields = (
            expected.fields
            if isinstance(expected, TupleType) and len(expected.fields) == len(value)
            else None
        )
        types = [_type_of(part, fields[k] if fields else None) for k, part in enumerate(value)]
        known_types = [t for t in types if t is not None]
        return TupleType(known_types) if len(known_types) == len(types) else None
    return (
        expected if expected is not None and is_complete(expected) and not free_type_vars(expected) else None
    )


def _fits(actual: TensorType, expected: TensorType) -> bool:
    same = actual.dtype == expected.dtype and len(actual.shape) == len(expected.shape)
    return same and all(not isinstance(w, int) or a == w for a, w in zip(actual.shape, expected.shape))


def _check(module: IRModule, function: Function) -> None:
    """Check the types of `function` and of the functions that it calls, directly or not, in `module`."""
    needed = IRModule({}, module.type_definitions)
    pending: list[Expr] = [function]
    while pending:
        for node in post_order(pending.pop()):
            if isinstance(node, GlobalVar) and node in module and node not in needed:
                needed[node] = module[node]
                pending.append(module[node])
    name = "main"
    while name in needed:
        name += "_"
    needed[name] = function
    check_types(needed)
