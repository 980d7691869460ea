# %%
from pocket import ir, scopes

LAUNCHES = {}  # operators that launch kernels: the bytes of their results


def lines_of(body):
    """Return the bindings of a chain of `let`s, and its result."""
    lines = []
    while isinstance(body, ir.Let):
        lines.append((body.var, body.value))
        body = body.body
    return lines, body


# %%
def lifetimes(lines, result):
    """Return when the result of each launch is made and read last."""
    lives = {}
    for step, (var, value) in enumerate([*lines, (None, result)]):
        launch = isinstance(value, ir.Call) and value.callee in LAUNCHES
        for operand in filter(lives.get, scopes.free_vars(value)):
            lives[operand] = lives[operand][0], step
            if not launch:
                del lives[operand]
        if launch:
            lives[var] = step, step
    return lives


# %%
def plan(lives, sizes):
    """Return the offset of each tensor in an arena.

    The largest comes first. Each is placed at the lowest offset where it
    overlaps no tensor that is needed at the same time.
    """
    offsets = {}
    for var in sorted(lives, key=sizes.get, reverse=True):
        (begin, end), offset = lives[var], 0
        for other in sorted(offsets, key=offsets.get):
            apart = lives[other][1] < begin or end < lives[other][0]
            if not apart and offsets[other] < offset + sizes[var]:
                offset = max(offset, offsets[other] + sizes[other])
        offsets[var] = offset
    return offsets


# %%
def use_arena(body):
    """Let the launches of a chain of `let`s write to one arena."""
    lines, result = lines_of(body)
    lives, calls = lifetimes(lines, result), dict(lines)
    if not lives:
        return body
    sizes = {var: LAUNCHES[calls[var].callee] for var in lives}
    offsets, arena = plan(lives, sizes), ir.Var("arena")
    for var, value in reversed(lines):
        if var in lives:
            args, offset = (*value.args, arena), {"offset": offsets[var]}
            value = ir.Call(value.callee, args, offset)
        result = ir.Let(var, value, result)
    size = max(offsets[var] + sizes[var] for var in lives)
    return ir.Let(arena, ir.call("arena", size=size), result)
