# %%
from pocket import ir, printer, scopes, visitor
from pocket.relations import require, result_type, type_of
from pocket.types import FuncType, TensorType, TupleType, TypeVariable


class Solver:
    """The types of expressions, and the relations between them."""

    def __init__(self, module):
        self.module, self.current = module, None
        self.bound = {}  # of a variable: its type; itself while it is open
        self.types, self.relations = {}, []  # of expressions

    def fresh(self):
        """Return a new type variable, which is open."""
        var = TypeVariable(f"?{len(self.bound)}")
        return self.bound.setdefault(var, var)

    def resolve(self, type_):
        """Replace every bound variable in a type."""
        while self.bound.get(type_, type_) is not type_:
            type_ = self.bound[type_]
        return scopes.map_children(type_, self.resolve)

    def unify(self, a, b):
        """Make two types equal by binding the variables in them."""
        a, b = self.resolve(a), self.resolve(b)
        if b in self.bound:
            a, b = b, a
        if a in self.bound and a is not b:
            require(a not in scopes.post_order(b), "an infinite type")
            self.bound[a] = b
        else:
            for pair in zip(ir.children(a), ir.children(b)):
                self.unify(*pair)
            require(self.resolve(a) == self.resolve(b), f"{a} is not {b}")

    def equate(self, rule, expr, a, b):
        """Unify two types, because a typing rule demands it."""
        self.current = expr
        self.unify(a, b)

    def relate(self, expr, *operands):
        """Add the relation of an expression; return its result's type."""
        self.relations.append((expr, operands))
        return self.fresh()

    def run(self, expr, operands):
        """Apply a relation; return whether it is solved."""
        self.current = expr
        result = relation(expr, [self.resolve(type_) for type_ in operands])
        if result is not None:
            self.unify(self.types[expr], result)
        return result is not None

    def solve(self):
        """Apply the relations in sweeps; each solves at least one, or none
        can be solved."""
        for _ in self.relations:
            self.relations = [r for r in self.relations if not self.run(*r)]


# %%
def relation(expr, operands):
    """Return the type of a call or a field; None if it is too early."""
    if isinstance(expr, ir.Call):
        return result_type(expr.callee.name, operands, expr.attrs)
    (type_,) = operands
    require(not isinstance(type_, TensorType), "a tensor has no field")
    parts = ir.children(type_)
    return parts[expr.index] if parts else None


# %%
def infer(expr, solver):
    """Return the type of an expression; collect what it demands."""
    if isinstance(expr, ir.GlobalVar):
        expr = solver.module.functions[expr.name]
    if expr not in solver.types:
        solver.types[expr] = infer_new(expr, solver)
    params = getattr(expr, "type_params", ())
    type_ = solver.resolve(solver.types[expr])
    return visitor.substitute(type_, {p: solver.fresh() for p in params})


def infer_all(exprs, solver):
    return [infer(expr, solver) for expr in exprs]


# %%
def infer_new(expr, solver):
    """Apply the typing rule of an expression."""
    match expr:
        case ir.Var(_, type_):
            return type_ or solver.fresh()
        case ir.Constant(value):
            return type_of(value)
        case ir.Constructor(_, fields, datatype):
            return FuncType((*fields, datatype))
        case ir.Tuple(fields):
            return TupleType((*infer_all(fields, solver),))
        case ir.TupleGetItem(operand):
            return solver.relate(expr, infer(operand, solver))
        case ir.Call(ir.Op(), args):
            return solver.relate(expr, *infer_all(args, solver))
        case ir.Call(callee, args):
            result = solver.fresh()
            type_ = FuncType((*infer_all(args, solver), result))
            solver.equate("callee", expr, infer(callee, solver), type_)
            return result
        case ir.Function(params, body, declared, generic):
            result = declared or solver.fresh()
            type_ = FuncType((*infer_all(params, solver), result))
            solver.types[expr] = type_  # now: it may call itself
            solver.equate("return", expr, result, infer(body, solver))
            require(declared or not generic, "no declared result")
            return type_
        case ir.Let(var, value, body):
            solver.equate("let", expr, *infer_all((var, value), solver))
            return infer(body, solver)
        case ir.If():
            truth, *branches = infer_all(ir.children(expr), solver)
            solver.equate("condition", expr, TensorType((), "bool"), truth)
            solver.equate("branches", expr, *branches)
            return branches[0]
        case ir.Clause(pattern, body):
            return FuncType((*infer_all((pattern, body), solver),))
        case ir.Match(data, clauses):
            type_ = FuncType((infer(data, solver), solver.fresh()))
            for c in clauses:
                solver.equate("clause", c, type_, infer(c, solver))
            return type_.parts[1]


# %%
def infer_types(module, solver=None):
    """Return the type of every expression of a module."""
    solver = solver or Solver(module)
    try:
        infer_all(module.functions.values(), solver)
        solver.solve()
        require(not solver.relations, "too little is known")
    except (TypeError, ValueError) as error:
        error.add_note(f"in {printer.show(solver.current)[-200:]}")
        raise
    return {e: solver.resolve(t) for e, t in solver.types.items()}
