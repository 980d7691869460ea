# %%
from pocket import events, ir, printer, scopes, visitor
from pocket.folding import is_operator_call

ELEMENTWISE, BROADCAST, INJECTIVE, REDUCTION, OUT_FUSABLE = range(5)
TUPLE, OPAQUE = 7, 8  # computes nothing; nothing is known about it
INLINED = ir.Op, ir.Tuple  # never parameters of a kernel
NAMES = """exp log sqrt tanh sigmoid negative nn.relu
    add subtract multiply divide maximum nn.bias_add
    reshape nn.batch_flatten concatenate
    sum mean max
    nn.dense nn.conv2d nn.max_pool2d nn.softmax""".splitlines()
PATTERNS = {n: p for p, names in enumerate(NAMES) for n in names.split()}


def pattern_of(expr):
    """Return the pattern of an expression."""
    if is_operator_call(expr):
        return PATTERNS.get(expr.callee.name, OPAQUE)
    return TUPLE if isinstance(expr, ir.Tuple) else OPAQUE


# %%
def use_pattern(user, operand, types):
    """Return the pattern of one use of a value."""
    pattern = pattern_of(user)
    if pattern == BROADCAST and types[user] == types.get(operand):
        return ELEMENTWISE  # this operand is not broadcast
    return INJECTIVE if pattern == TUPLE else pattern


def post_dominators(users):
    """Return for each node the first that all paths from it reach."""
    later, parents = [set()] * len(users), [None] * len(users)
    for node in reversed(range(len(users) - 1)):
        reached = [{user} | later[user] for user, _ in users[node]]
        later[node] = set.intersection(*reached)
        parents[node] = min(later[node])
    return parents


# %%
class Flow:
    """Numbered values and their uses, and the kernels they are in."""

    def __init__(self, function, types):
        self.number = scopes.post_order(function)
        self.exprs = list(self.number)
        self.users = [[] for _ in self.exprs]
        for user, expr in enumerate(self.exprs):
            for operand in ir.children(expr):
                use = user, use_pattern(expr, operand, types)
                self.users[self.number[operand]].append(use)
        self.parents = post_dominators(self.users)
        self.roots = list(range(len(self.exprs)))  # of their kernels
        self.kernels = list(map(pattern_of, self.exprs))

    def uses(self, node):
        return self.users[node]

    def post_dominator(self, node):
        return self.parents[node]

    def pattern(self, node):
        return pattern_of(self.exprs[node])

    def kernel(self, node):
        return self.kernels[self.roots[node]]

    def merge(self, nodes, end):
        """Merge the kernels of nodes into that of `end`."""
        new, old = self.roots[end], {self.roots[node] for node in nodes}
        if OUT_FUSABLE in map(self.kernel, nodes):
            self.kernels[new] = OUT_FUSABLE
        self.roots = [new if r in old else r for r in self.roots]


# %%
def paths(node, flow):
    """Return the nodes between a node and its post-dominator, and the
    most opaque pattern of a use on these paths."""
    end, reached, patterns = flow.post_dominator(node), {node}, set()
    for inner in range(node, end):
        if inner in reached:
            users, uses = zip(*flow.uses(inner))
            reached.update(users)
            patterns.update(uses)
    return reached - {node, end}, max(patterns)


def may_fuse(node, phase, flow):
    """Decide whether a node is fused with its post-dominator."""
    between, use = paths(node, flow)
    inside = max(map(flow.kernel, [*between, flow.post_dominator(node)]))
    own = flow.kernel(node)
    if own <= BROADCAST:
        return phase < 3 and max(use, inside) <= INJECTIVE
    if own == OUT_FUSABLE:
        return phase == 1 and use == ELEMENTWISE and inside <= BROADCAST
    return phase == 2 and own != REDUCTION and inside <= INJECTIVE


def group(flow, rule=may_fuse):
    """Merge nodes into kernels, in three phases."""
    for phase in (1, 2, 3):
        for node, end in enumerate(flow.parents[:-1]):
            alone = end is None or flow.roots[node] == flow.roots[end]
            if alone or flow.pattern(node) == OPAQUE:
                continue
            fused = rule(node, phase, flow)
            events.emit_decision(flow, phase, node, fused)
            if fused:
                flow.merge({node} | paths(node, flow)[0], end)


# %%
def launch(body, type_, outside, kernels):
    """Return a call of the kernel that computes `body`."""
    params = tuple(scopes.free_vars(body))
    kernel = ir.Function(params, body, type_, primitive=True)
    new = f"kernel{len(kernels)}", kernel
    name = ir.GlobalVar(kernels.setdefault(printer.show(kernel), new)[0])
    return ir.Call(name, tuple([outside[param] for param in params]))


def fuse(module, types, rule=may_fuse):
    """Return the module with kernels as functions of their own."""
    kernels = {}  # names and functions, by their text

    def rewrite(function):
        flow, inside, outside = Flow(function, types), {}, {}
        group(flow, rule)
        for node, expr in enumerate(flow.exprs):
            inside[expr] = body = scopes.map_children(expr, inside.get)
            outside[expr] = scopes.map_children(expr, outside.get)
            if flow.roots[node] == node and is_operator_call(expr):
                outside[expr] = launch(body, types[expr], outside, kernels)
            if flow.roots[node] == node and not isinstance(expr, INLINED):
                inside[expr] = param = ir.Var("p", types.get(expr))
                outside[param] = outside[expr]
        return outside[function]

    fused = visitor.map_functions(module, rewrite)
    fused.functions.update(kernels.values())
    return fused
