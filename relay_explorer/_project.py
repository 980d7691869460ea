"""Where the project lives: the one place that names its public address, and what is derived from it."""

from __future__ import annotations

VERSION = "0.1.0"

# Not decided yet: a placeholder with the shape that the launch buttons need. `make address` rewrites what is derived from it.
REPOSITORY = "https://github.com/relay-explorer/relay_explorer"
TAG = f"v{VERSION}"


def requirement(extra: str = "notebook", repository: str = REPOSITORY, tag: str = TAG) -> str:
    """The requirement that installs the package from the repository at a tag, as pip reads it (PEP 508)."""
    return f"relay_explorer[{extra}] @ git+{repository}@{tag}"


def install_cell(extra: str = "notebook") -> str:
    """The first cell of a notebook: it installs the package only where importing it fails, as on Colab."""
    return (
        "try:\n"
        "    import relay_explorer\n"
        "except ImportError:\n"
        f'    %pip install -q "{requirement(extra)}"'
    )


def colab_address(path: str, repository: str = REPOSITORY, tag: str = TAG) -> str:
    """The address that opens the notebook at `path` (relative to the repository) in Colab."""
    slug = repository.removeprefix("https://github.com/")
    return f"https://colab.research.google.com/github/{slug}/blob/{tag}/{path}"


def raw_address(path: str, repository: str = REPOSITORY, tag: str = TAG) -> str:
    """The address of the file at `path` as it is at the tag, for notebooks that are opened without the repository."""
    return f"{repository}/raw/{tag}/{path}"
