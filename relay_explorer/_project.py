"""The project's public address, defined only here, and the addresses derived from it."""

from __future__ import annotations

VERSION = "0.1.0"

# Not decided yet: a placeholder in the form that launch buttons need. `make address` updates everything that
# is derived from it.
REPOSITORY = "https://github.com/relay-explorer/relay_explorer"
TAG = f"v{VERSION}"


def site_address(path: str) -> str:
    """Return the address of a page of the published book: of the repository's site at GitHub."""
    owner, name = REPOSITORY.removeprefix("https://github.com/").split("/")
    return f"https://{owner}.github.io/{name}/{path}"


def requirement(extra: str = "notebook") -> str:
    """Return the requirement that installs the package from the repository at a tag, as pip reads it (PEP
    508).
    """
    return f"relay_explorer[{extra}] @ git+{REPOSITORY}@{TAG}"


def install_cell(extra: str = "notebook") -> str:
    """Return the first cell of a notebook: it installs the package only where importing it fails, as on
    Colab. With the extra `compile`, also where TVM is missing; querying its version is faster than importing
    it.
    """
    required = ["import relay_explorer"]
    if "compile" in extra.split(","):
        required += ["from importlib.metadata import version", "version('apache-tvm')"]
    tried = "".join(f"    {line}\n" for line in required)
    return f'try:\n{tried}except ImportError:\n    %pip install -q "{requirement(extra)}"'


def colab_address(path: str) -> str:
    """Return the address that opens the notebook at `path` (relative to the repository) in Colab."""
    slug = REPOSITORY.removeprefix("https://github.com/")
    return f"https://colab.research.google.com/github/{slug}/blob/{TAG}/{path}"


def source_address(path: str, line: int = 0) -> str:
    """Return the address of the file at `path` at the tag, or of a line of it."""
    return f"{REPOSITORY}/blob/{TAG}/{path}" + (f"#L{line}" if line else "")


def raw_address(path: str) -> str:
    """Return the address of the raw file at `path` at the tag, for notebooks that are opened without the
    repository.
    """
    return f"{REPOSITORY}/raw/{TAG}/{path}"
