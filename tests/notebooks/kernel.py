"""One Jupyter kernel for many notebooks: starting it, and loading TVM, takes longer than most of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.manager import start_new_kernel
from nbformat import NotebookNode

SHOWN = ("display_data", "execute_result", "stream", "error")  # messages that are a cell's outputs


@contextmanager
def kernel() -> Iterator[Any]:
    """Start a kernel and yield its client."""
    manager, client = start_new_kernel(kernel_name="python3")
    try:
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def run(client: Any, notebook: NotebookNode, folder: Path) -> NotebookNode:
    """Execute a notebook in a folder of its own, without the names of the previous one; errors remain in the
    cells.
    """
    client.execute_interactive(f"%reset -f\n%cd -q {folder}", timeout=600)
    for cell in notebook.cells:
        if cell.cell_type == "code":

            def keep(message: dict[str, Any], cell: NotebookNode = cell) -> None:
                if message["msg_type"] in SHOWN:
                    cell.outputs.append(nbformat.v4.output_from_msg(message))

            # After an error, a kernel that stops on errors drops a request that comes too soon.
            how = {"allow_stdin": False, "stop_on_error": False, "timeout": 600, "output_hook": keep}
            client.execute_interactive(cell.source, **how)
    return notebook
