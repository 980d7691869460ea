# %%
from dataclasses import replace

from pocket import folding, ir, scopes, visitor


class Residual:
    """The lines of a residual program, by their names.

    `fuel` is the number of calls that may still be inlined.
    """

    def __init__(self, functions, fuel):
        self.functions, self.fuel, self.lines = functions, fuel, {}

    def known(self, name):
        """Return what a name stands for, or the name if it is dynamic."""
        if isinstance(name, ir.GlobalVar):
            return self.functions[name.name]
        return self.lines.get(name, name)


# %%
def evaluate(expr, values, residual):
    """Return the name of a value; write what is not static."""
    match expr:
        case ir.Let(var, ir.Function() as function, body):
            values[var] = name = ir.Var("f")  # the function may use it
            residual.lines[name] = visitor.substitute(function, values)
            return evaluate(body, values, residual)
        case ir.Let(var, value, body):
            values[var] = evaluate(value, values, residual)
            return evaluate(body, values, residual)
    return reduce(visitor.substitute(expr, values), residual)


# %%
def reduce(line, residual):
    """Return the name of a line's value; write what is not static."""
    known = scopes.map_children(line, residual.known)
    match known:
        case ir.Call(ir.Function(params, body)) if residual.fuel:
            residual.fuel -= 1
            return evaluate(body, dict(zip(params, line.args)), residual)
        case ir.If(ir.Constant(value)):
            branch = line.then_branch if value else line.else_branch
            return evaluate(branch, {}, residual)
        case ir.Match(ir.Call(ir.Constructor() as built, args), clauses):
            clause = find_clause(clauses, built)
            names = dict(zip(getattr(clause.pattern, "args", ()), args))
            if all(isinstance(part, ir.Var) for part in names):
                values = names | {clause.pattern: line.data}
                return evaluate(clause.body, values, residual)
    value = folding.simplify(known)
    if value is known and ir.children(line):
        value = ir.Var("x")
        residual.lines[value] = line
    return value


# %%
def find_clause(clauses, built):
    """Return the first clause for values of a constructor."""
    fits = [getattr(c.pattern, "callee", built) is built for c in clauses]
    return clauses[fits.index(True)]


# %%
def partial_evaluate(module, fuel=1000):
    """Evaluate what `@main` computes whatever its arguments are."""
    module = visitor.map_functions(module, scopes.to_anf)
    main = module.functions["main"]
    residual = Residual(module.functions, fuel)
    body = evaluate(main.body, {}, residual)
    for name, line in reversed(residual.lines.items()):
        body = ir.Let(name, line, body)
    functions = module.functions | {"main": replace(main, body=body)}
    return replace(module, functions=functions)
