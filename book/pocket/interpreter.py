# %%
from collections import ChainMap

import numpy as np

from pocket import ir

ARITHMETIC = """add subtract multiply divide power maximum minimum
    negative abs exp log sqrt tanh floor"""
OTHERS = """equal not_equal less less_equal greater greater_equal where ones
    logical_and logical_or logical_not split concatenate transpose zeros"""
REFERENCE = {n: getattr(np, n) for n in f"{ARITHMETIC} {OTHERS}".split()}


# %%
def bias_add(x, bias, axis=1):
    return x + bias.reshape(-1, *[1] * len(x.shape[axis:][1:]))


def softmax(x, axis=-1):
    exps = np.exp(x - x.max(axis, keepdims=True))
    return exps / exps.sum(axis, keepdims=True)


def reduction(reduce):
    """Return a reference implementation that reduces some axes."""

    def reduce_axes(x, axis=None, **attrs):
        return reduce(x, axis and tuple(axis), **attrs).astype(x.dtype)

    return reduce_axes


for name in "sum", "max", "min", "mean":
    REFERENCE[name] = reduction(getattr(np, name))
REFERENCE |= {
    "divide": lambda x, y: (x / y).astype(np.result_type(x, y)),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "cast": lambda x, dtype: x.astype(dtype),
    "reshape": lambda x, newshape: x.reshape(newshape),
    "nn.relu": lambda x: np.maximum(x, 0),
    "nn.dense": lambda x, weight, units=None: x @ weight.T,
    "nn.batch_flatten": lambda x: x.reshape(len(x), -1),
}
REFERENCE |= {"nn.bias_add": bias_add, "nn.softmax": softmax}


# %%
def windows(image, size, strides=(1, 1), padding=(0, 0), fill=0):
    """Return all windows of an image, as (n, c, rows, columns, *size)."""
    sides = ((0, 0), (0, 0), *zip(padding[:2], padding[-2:]))
    padded = np.pad(image, sides, constant_values=fill)
    view = np.lib.stride_tricks.sliding_window_view(padded, size, (2, 3))
    return view[:, :, :: strides[0], :: strides[1]]


def conv2d(x, weight, channels=None, kernel_size=None, **attrs):
    view = windows(x, weight.shape[2:], **attrs)
    return np.einsum("nihwab,oiab->nohw", view, weight, optimize=True)


def max_pool2d(x, pool_size, **attrs):
    return windows(x, pool_size, fill=-np.inf, **attrs).max((-2, -1))


REFERENCE |= {"nn.conv2d": conv2d, "nn.max_pool2d": max_pool2d}


# %%
def evaluate(expr, frame):
    """Return the value of an expression, computed once per frame."""
    if expr not in frame:
        frame[expr] = compute(expr, frame)
    return frame[expr]


# %%
def compute(expr, frame):
    """Compute the value of an expression from those of its parts."""
    match expr:
        case ir.Constant(value):
            return value
        case ir.Op():
            return lambda args, attrs: apply(expr, args, attrs)
        case ir.Constructor():
            return lambda fields, attrs: ir.Call(expr, fields)
        case ir.GlobalVar(name):
            functions = frame.maps[-1]
            return evaluate(functions[name], ChainMap({}, functions))
        case ir.Function(params, body):

            def call(args, attrs):
                values = dict(zip(params, args))
                return evaluate(body, frame.new_child(values))

            return call
        case ir.Call(callee, args, attrs):
            values = [evaluate(arg, frame) for arg in args]
            return evaluate(callee, frame)(values, attrs)
        case ir.Tuple(fields):
            return tuple([evaluate(field, frame) for field in fields])
        case ir.TupleGetItem(value, index):
            return evaluate(value, frame)[index]
        case ir.Let(var, value, body):
            frame[var] = evaluate(value, frame)
            return evaluate(body, frame)
        case ir.If(condition, then_branch, else_branch):
            chosen = evaluate(condition, frame)
            return evaluate(then_branch if chosen else else_branch, frame)
        case ir.Match(data, clauses):
            value = evaluate(data, frame)
            fits = [c for c in clauses if matches(c.pattern, value, frame)]
            return evaluate(fits[0].body, frame)
    raise NameError(f"{expr} has no value")


# %%
def apply(op, args, attrs):
    """Apply an operator's reference implementation to values."""
    with np.errstate(all="ignore"):  # infinity and NaN are values, too
        result = REFERENCE[op.name](*args, **attrs)
    return tuple(result) if isinstance(result, list) else np.asarray(result)


# %%
def run(module, *args, name="main"):
    """Call a function of a module with values."""
    frame = ChainMap({}, module.functions)
    return evaluate(ir.GlobalVar(name), frame)(args, {})


# %%
def matches(pattern, value, frame):
    """Test a value against a pattern; bind the pattern's variables."""
    if isinstance(pattern, ir.Var):
        frame[pattern] = value
        return True
    pairs = zip(pattern.args, value.args)
    same = pattern.callee is value.callee
    return same and all(matches(*pair, frame) for pair in pairs)
