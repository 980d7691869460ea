"""Random programs: every construct, sharing within and across scopes, odd names, odd constants.

They need not be well typed.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

from relay_explorer.ir import (
    Any,
    Call,
    Clause,
    Constant,
    Constructor,
    DictAttrs,
    Expr,
    Function,
    FuncType,
    GlobalTypeVar,
    GlobalVar,
    If,
    IncompleteType,
    IRModule,
    Let,
    Match,
    NDArray,
    Op,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    RefCreate,
    RefRead,
    RefType,
    RefWrite,
    SizeVar,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    TypeCall,
    TypeData,
    TypeVar,
    Var,
)  # fmt: skip
from relay_explorer.ir.ndarray import itemsize

ODD_NAMES = [
    "", "x", "x1", "_", "0", "9lives", "a.b", "layer1.0.weight", "a.0", "let", "if", "<b>hi</b>", "日本",
    "naïve", "a b", '"quoted"', "`", "\\", "new\nline", "‮", "inff", "True", "float32", "n",
    "%0", "@x", "*/", "/*", "²", "e\u0301",
]  # fmt: skip
DTYPES = [
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
    "float16", "bfloat16", "float32", "float64",
]  # fmt: skip


class Programs:
    """Makes programs with the choices of `rng`."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.sizes = [SizeVar(rng.choice(["n", "n", "m", "2", ""])) for _ in range(3)]
        self.adts: list[TypeData] = []
        self.globals: list[GlobalVar] = []
        self.type_vars: list[TypeVar] = []
        self.scopes: list[list[Expr]] = [[]]
        self.budget = 0

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def name(self) -> str:
        return self.rng.choice(ODD_NAMES) if self.chance(0.3) else self.rng.choice("abcxyz")

    def module(self) -> IRModule:
        module = IRModule()
        for number in range(self.rng.randint(0, 2)):
            self.adt(module, number)
        self.globals = [GlobalVar(f"{self.name()}{k}") for k in range(self.rng.randint(1, 3))]
        for variable in self.globals:
            self.budget = self.rng.randint(1, 40)
            self.scopes = [[]]
            module[variable] = self.function()
        return module

    def adt(self, module: IRModule, number: int) -> None:
        header = GlobalTypeVar(f"{self.name()}{number}")
        params = [TypeVar(self.name()) for _ in range(self.rng.randint(0, 2))]
        self.type_vars = params
        names = [f"{self.name()}{number}{k}" for k in range(self.rng.randint(0, 3))]
        if number == 0 and self.chance(0.3):
            names.append(self.rng.choice(["exp", "nn.softmax", "True", "inff", "fn"]))
        result = [
            Constructor(n, [self.type(2) for _ in range(self.rng.randint(0, 2))], header) for n in names
        ]
        data = TypeData(header, params, result)
        self.type_vars = []
        module.add_type(header, data)
        self.adts.append(data)

    def dtype(self) -> str:
        return self.rng.choice(DTYPES)

    def type(self, depth: int = 3) -> Type:
        kind = self.rng.randint(0, 9 if depth else 3)
        if kind <= 2:
            dims = [self.rng.choice([1, 3, 224, Any(), *self.sizes]) for _ in range(self.rng.randint(0, 3))]
            return TensorType(dims, self.dtype())
        if kind == 3:
            return self.rng.choice(
                [*self.type_vars, IncompleteType(), *(TypeCall(d.header, []) for d in self.adts)]
            )
        parts = [self.type(depth - 1) for _ in range(self.rng.randint(0, 2))]
        if kind <= 5:
            return TupleType(parts)
        if kind == 6:
            return RefType(self.type(depth - 1))
        if kind == 7 and self.adts:
            return TypeCall(self.rng.choice(self.adts).header, parts)
        outer = self.type_vars
        own = [TypeVar(self.name()) for _ in range(self.rng.randint(0, 2))]
        self.type_vars = outer + own
        result = FuncType([self.type(depth - 1) for _ in parts], self.type(depth - 1), own)
        self.type_vars = outer
        return result

    def var(self) -> Var:
        return Var(self.name(), self.type() if self.chance(0.4) else None)

    def within(self, variables: list[Var], make: Callable[[], Expr]) -> Expr:
        self.scopes.append([*variables])
        result = make()
        self.scopes.pop()
        return result

    def function(self) -> Function:
        outer = self.type_vars
        own = [TypeVar(self.name()) for _ in range(self.rng.randint(0, 2))]
        self.type_vars = outer + own
        params = [self.var() for _ in range(self.rng.randint(0, 3))]
        ret = self.type() if self.chance(0.3) else None
        attrs = DictAttrs({self.name(): self.attribute(2) for _ in range(self.rng.randint(0, 2))})
        body = self.within(params, self.expr)
        self.type_vars = outer
        return Function(params, body, ret, own, attrs)

    def attribute(self, depth: int) -> object:
        simple = [
            0,
            -7,
            2**40,
            True,
            False,
            None,
            0.1,
            -0.0,
            1e300,
            float("inf"),
            "",
            self.name(),
            "</script>",
        ]
        if depth == 0 or self.chance(0.6):
            return self.rng.choice(simple)
        items = [self.attribute(depth - 1) for _ in range(self.rng.randint(0, 3))]
        return self.rng.choice([items, tuple(items), {self.name(): i for i in items}])

    def constant(self) -> Constant:
        dtype = self.dtype()
        shape = self.rng.choice([(), (), (2,), (2, 3), (0,), (70,)])
        count = itemsize(dtype)
        for extent in shape:
            count *= extent
        if dtype == "bool":
            return Constant(NDArray(shape, dtype, bytes(self.rng.randint(0, 1) for _ in range(count))))
        if dtype == "float32" and not shape:
            special = [
                0.0,
                -0.0,
                1.0,
                0.1,
                1e-45,
                3.4e38,
                float("inf"),
                float("-inf"),
                float("nan"),
                16777217.0,
            ]
            return Constant(NDArray(shape, dtype, struct.pack("<f", self.rng.choice(special))))
        return Constant(NDArray(shape, dtype, self.rng.randbytes(count)))

    def pattern(self, bound: list[Var], depth: int = 2) -> Pattern:
        kind = self.rng.randint(0, 3 if depth else 1)
        if kind == 0:
            return PatternWildcard()
        constructors = [c for d in self.adts for c in d.constructors]
        if kind == 1 or (kind == 2 and not constructors):
            bound.append(self.var())
            return PatternVar(bound[-1])
        parts = [self.pattern(bound, depth - 1) for _ in range(self.rng.randint(0, 2))]
        return PatternConstructor(self.rng.choice(constructors), parts) if kind == 2 else PatternTuple(parts)

    def leaf(self) -> Expr:
        known = [node for scope in self.scopes for node in scope]
        constructors = [c for d in self.adts for c in d.constructors]
        kind = self.rng.randint(0, 9)
        if kind <= 5 and known:
            return self.rng.choice(known)
        if kind <= 7:
            return self.constant()
        if kind == 8 and constructors:
            return self.rng.choice(constructors)
        return self.rng.choice([*self.globals, Op.get("exp")])

    def expr(self) -> Expr:
        """Generate an expression of the current scope, recorded there so that it may be shared."""
        self.budget -= 1
        if self.budget <= 0 or self.chance(0.1):
            return self.leaf()
        often = [self.call, self.operator]
        makers = [
            *often,
            *often,
            self.tuple,
            self.let,
            self.branch,
            self.function,
            self.match,
            self.reference,
        ]
        result = self.rng.choice(makers)()
        self.scopes[-1].append(result)
        return result

    def call(self) -> Expr:
        callee = self.expr()
        args = [self.expr() for _ in range(self.rng.randint(0, 2))]
        types = [] if isinstance(callee, Op) else [self.type(1) for _ in range(self.rng.randint(0, 1))]
        attrs = None
        if self.chance(0.2) and not isinstance(callee, Op):
            attrs = DictAttrs({self.name(): self.attribute(1)})
        return Call(callee, args, attrs, types)

    def operator(self) -> Expr:
        kind = self.rng.randint(0, 3)
        if kind == 0:
            return Call(Op.get("add"), [self.expr(), self.expr()])
        choices: list[tuple[str, dict[str, object]]] = [
            ("nn.softmax", {"axis": self.rng.randint(-1, 1)}),
            ("cast", {"dtype": self.dtype()}),
            ("nn.leaky_relu", {"alpha": self.rng.random()}),
            ("clip", {"a_min": float("-inf"), "a_max": 6.0}),
            ("transpose", {"axes": (1, 0)}),
            ("exp", {}),
        ]
        name, attrs = self.rng.choice(choices)
        op = Op.get(name)
        return Call(op, [self.expr()], op.attrs_class(**attrs) if op.attrs_class else None)

    def tuple(self) -> Expr:
        if self.chance(0.5):
            return TupleGetItem(self.expr(), self.rng.randint(0, 3))
        return Tuple([self.expr() for _ in range(self.rng.randint(0, 3))])

    def let(self) -> Expr:
        value = self.expr()
        variable = self.var()
        if isinstance(value, Function) and self.chance(0.3):
            param = self.var()
            value = Function([param], Call(variable, [param]))  # calls itself
        return Let(variable, value, self.within([variable], self.expr))

    def branch(self) -> Expr:
        return If(self.expr(), self.within([], self.expr), self.within([], self.expr))

    def match(self) -> Expr:
        clauses = []
        data = self.expr()
        for _ in range(self.rng.randint(0, 3)):
            bound: list[Var] = []
            pattern = self.pattern(bound)
            clauses.append(Clause(pattern, self.within(bound, self.expr)))
        return Match(data, clauses, self.chance(0.5))

    def reference(self) -> Expr:
        kind = self.rng.randint(0, 2)
        if kind == 0:
            return RefCreate(self.expr())
        return RefRead(self.expr()) if kind == 1 else RefWrite(self.expr(), self.expr())
