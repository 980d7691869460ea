"""Import ONNX models as the page does: without NumPy and onnx, with protobuf in plain Python.

Run as a program with the folder of the importer's parts and a folder of models, it writes the programs, or
the errors, as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any


def imported(content: bytes) -> str:
    """The text of a model's program, with all constants; or the error's kind and message."""
    from relay_explorer.frontends.onnx import from_onnx
    from relay_explorer.ir.errors import RelayError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return from_onnx(content)[0].astext()
    except RelayError as error:
        return f"{type(error).__name__}: {error.message}"
    except Exception as error:
        return f"failed: {type(error).__name__}: {error}"


if __name__ == "__main__":

    class Hidden:
        """These packages are not installed."""

        @staticmethod
        def find_spec(name: str, path: Any = None, target: Any = None) -> None:
            if name.partition(".")[0] in ("numpy", "tvm", "onnx"):
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    os.environ["PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"] = "python"
    sys.meta_path.insert(0, Hidden)
    from relay_explorer.playground import messages
    from relay_explorer.playground.arrays import namespace

    sys.modules["numpy"] = namespace.module
    parts, models = sys.argv[1:]
    messages.install(parts)
    programs = {path.stem: imported(path.read_bytes()) for path in sorted(Path(models).glob("*.onnx"))}
    json.dump(programs, sys.stdout)
