"""Run old scripts, modules and tests with this package's replacement of `tvm`."""

from __future__ import annotations

import runpy
import sys
import traceback
import types
from pathlib import Path

from .hook import install

USAGE = """usage: python -m relay_explorer.compat SCRIPT [ARGUMENT ...]
       python -m relay_explorer.compat -m MODULE [ARGUMENT ...]

Runs a script, or a module, that was written for tvm.relay: `import tvm` gives it relay_explorer's.
`-m pytest FILE ...` runs test files."""


def main(arguments: list[str]) -> int:
    """Run the command; return the exit status."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE, file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    if arguments[0] == "-m" and len(arguments) > 1:
        return run_module(arguments[1], arguments[2:])
    if arguments[0].startswith("-"):
        print(f"error: there is no option {arguments[0]}\n{USAGE}", file=sys.stderr)
        return 2
    return run_script(arguments[0], arguments[1:])


def run_script(path: str, arguments: list[str]) -> int:
    """Run a file as `python path arguments…` would."""
    try:
        source = Path(path).read_bytes()
    except OSError as error:
        print(f"error: {path} cannot be read: {error.strerror}", file=sys.stderr)
        return 2
    module = types.ModuleType("__main__")
    module.__file__ = path
    sys.argv = [path, *arguments]
    sys.path[0] = str(Path(path).resolve().parent)
    sys.modules["__main__"] = module
    install()
    try:
        exec(compile(source, path, "exec"), module.__dict__)
    except Exception as error:
        # Print only the script's own frames, which follow this function's.
        frames = error.__traceback__.tb_next if error.__traceback__ else None
        traceback.print_exception(type(error), error, frames)
        return 1
    return 0


def run_module(name: str, arguments: list[str]) -> int:
    """Run a module as `python -m name arguments…` would; pytest runs with this package's plugin."""
    install()
    sys.argv = [name, *arguments]
    if name == "pytest":
        import pytest

        return int(pytest.main([*arguments, "-p", f"{__package__}.pytest_plugin"]))
    try:
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    except ImportError as error:
        if error.name is not None and error.name != name:
            raise
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0
