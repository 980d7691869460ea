# %%
from pocket import ir


def commas(parts):
    return ", ".join(map(str, parts))


class TensorType(ir.Node, eq=True):
    shape: tuple = ()
    dtype: str = "float32"

    def __repr__(self):
        tensor = f"Tensor[({commas(self.shape)}), {self.dtype}]"
        return tensor if self.shape else self.dtype


class TupleType(ir.Node, eq=True):
    parts: tuple

    def __repr__(self):
        return f"{self.parts}"


# %%
class FuncType(TupleType, eq=True):
    """The types of the parameters and, last, of the result."""

    def __repr__(self):
        return f"fn ({commas(self.parts[:-1])}) -> {self.parts[-1]}"


class DataType(ir.Node, eq=True):
    """A declared type with its arguments: `List[int32]`."""

    name: str
    parts: tuple = ()

    def __repr__(self):
        return f"{self.name}{list(self.parts) or ''}"


class TypeVariable(ir.Node):
    """A type parameter, or a type that is not known yet."""

    name: str

    def __repr__(self):
        return self.name
