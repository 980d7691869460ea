# %%
from dataclasses import dataclass
from functools import partial
from math import prod

from pocket import ir, solver, visitor


@dataclass(eq=False)
class Tensor:
    """A formula: `x["i", "j"]` is the text of one element.

    A reduction has axes to reduce `over`; its formula is that of a term.
    """

    shape: tuple
    element: object  # a function of the index
    over: tuple = ()
    combine: tuple = ()  # how terms are combined, in C

    def __getitem__(self, index):
        """Return an element; axes that are missing or 1 are broadcast."""
        own = zip(index[len(index) - len(self.shape) :], self.shape)
        return self.element(*("0" if n == 1 else i for i, n in own))


# %%
def elementwise(text, kernel, shape, *inputs):
    """Fill one element of each input into the text of an operator."""
    return Tensor(shape, lambda *i: text.format(*[x[i] for x in inputs]))


TEMPLATES = {"add": "({} + {})", "subtract": "({} - {})"}
TEMPLATES |= {"multiply": "({} * {})", "divide": "({} / {})"}
TEMPLATES |= {"maximum": "max({}, {})", "nn.relu": "max({}, 0)"}
TEMPLATES |= {"exp": "exp({})", "tanh": "tanh({})"}
TEMPLATES |= {"sigmoid": "(1 / (1 + exp(-{})))"}


# %%
SUM = "{} = 0;", "{} += {};"
MAX = "{} = -INFINITY;", "{0} = max({0}, {1});"


def bias_add(kernel, shape, x, bias, axis=1):
    return Tensor(shape, lambda *i: f"({x[i]} + {bias[(i[axis],)]})")


def dense(kernel, shape, x, weight, units=None):
    def term(i, j, k):
        return f"{x[i, k]} * {weight[j, k]}"

    return Tensor(shape, term, over=x.shape[1:], combine=SUM)


# %%
def windows(kernel, x, fill, strides=(1, 1), padding=(0, 0, 0, 0)):
    """Pad an image; return element (a, b) of the window at (h, w)."""
    top, left, bottom, right = padding
    n, c, height, width = x.shape
    shape = n, c, top + height + bottom, left + width + right
    image = kernel.store(Tensor(shape, lambda *index: fill))

    def inner(n, c, h, w):
        return image[n, c, f"({h} + {top})", f"({w} + {left})"]

    def element(n, c, h, w, a, b):
        row = f"({h} * {strides[0]} + {a})"
        return image[n, c, row, f"({w} * {strides[1]} + {b})"]

    kernel.stages.append((Tensor(x.shape, inner), x))
    return element


def conv2d(kernel, shape, x, weight, channels=0, kernel_size=0, **attrs):
    pixel = windows(kernel, x, "0", **attrs)

    def term(n, unit, h, w, c, a, b):
        return f"{pixel(n, c, h, w, a, b)} * {weight[unit, c, a, b]}"

    return Tensor(shape, term, over=weight.shape[1:], combine=SUM)


def max_pool2d(kernel, shape, x, pool_size, **attrs):
    pixel = windows(kernel, x, "-INFINITY", **attrs)
    return Tensor(shape, pixel, over=pool_size, combine=MAX)


FORMULAS = {name: partial(elementwise, t) for name, t in TEMPLATES.items()}
FORMULAS |= {"nn.bias_add": bias_add, "nn.dense": dense}
FORMULAS |= {"nn.conv2d": conv2d, "nn.max_pool2d": max_pool2d}


# %%
def read(buffer, shape):
    """Return the formula that reads memory, row after row."""
    steps = [prod(shape[axis + 1 :]) for axis in range(len(shape))]

    def element(*index):
        terms = map("{} * {}".format, index, steps)
        return f"{buffer}[{' + '.join(terms) or 0}]"

    return Tensor(shape, element)


class Kernel:
    """The stages of a primitive function: buffers, and their formulas."""

    def __init__(self, function):
        self.buffers, self.stages, tensors = {}, [], {}
        types = solver.infer_types(ir.Module({"kernel": function}))
        calls = visitor.find_all(function, ir.Call)
        args = [arg for call in calls for arg in call.args]
        for n, param in enumerate(function.params):
            tensors[param] = read(f"p{n}", param.type.shape)
        for call in calls:
            formula, attrs = FORMULAS[call.callee.name], call.attrs
            inputs = types[call].shape, *map(tensors.get, call.args)
            tensor = tensors[call] = formula(self, *inputs, **attrs)
            if tensor.over or args.count(call) != 1:
                tensors[call] = self.store(tensor)

    def store(self, tensor):
        """Add a stage; return the formula that reads what it stores."""
        name = f"s{len(self.buffers)}"
        self.buffers[name], into = tensor.shape, read(name, tensor.shape)
        self.stages.append((into, tensor))
        return into


# %%
def axes(letter, extents):
    """Return the variable and the extent of each axis."""
    return [(f"{letter}{n}", extent) for n, extent in enumerate(extents)]


def parts(stage):
    """Return a stage's axes, the reduced ones, and the assignments before
    its terms and for each of them."""
    into, tensor = stage
    i, k = axes("i", tensor.shape), axes("k", tensor.over)
    index, terms = ([variable for variable, _ in part] for part in (i, k))
    target, value = into[index], tensor.element(*index, *terms)
    if not k:
        return i, k, [], [f"{target} = {value};"]
    first, update = tensor.combine
    return i, k, [first.format(target)], [update.format(target, value)]


def around(axes, lines):
    """Put one loop for each axis around lines of C."""
    for i, extent in reversed(axes):
        head = f"for (int {i} = 0; {i} < {extent}; {i}++) {{"
        lines = [head, *("  " + line for line in lines), "}"]
    return lines


def nest(stage):
    """Return the loops of a stage, as its formula says."""
    i, k, first, update = parts(stage)
    return around(i, first + around(k, update))
