"""A replacement for the rest of `tvm`, so that old Relay code runs.

    from relay_explorer.compat import tvm                # one changed import
    python -m relay_explorer.compat old_script.py        # none changed
    python -m relay_explorer.compat -m pytest test.py    # test files too
    %load_ext relay_explorer.compat                      # in a notebook

`real_tvm()` is the installed TVM, which can be used in the same process.
"""

from __future__ import annotations

from typing import Any

from .hook import install, installed, real_tvm, uninstall

__all__ = ["install", "installed", "real_tvm", "uninstall"]


def load_ipython_extension(shell: Any) -> None:
    """Run `%load_ext relay_explorer.compat`: from here on, `import tvm` in this session imports the
    replacement.
    """
    install()


def unload_ipython_extension(shell: Any) -> None:
    """Run `%unload_ext relay_explorer.compat`: from here on, `import tvm` imports the installed TVM again."""
    uninstall()
