"""Regenerate everything that is derived from the project's public address and version: `make address`.

`relay_explorer/_project.py` is the only file that defines them. `tools/pair.py` derives the notebooks from
it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from relay_explorer import _project

ROOT = Path(__file__).parents[1]

# In a Markdown file, the text between these two lines is derived.
_BLOCK = re.compile(r"(<!-- derived: (?P<name>\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def citation() -> str:
    """Return the text of CITATION.cff."""
    return f"""\
# Written by `make address`.
cff-version: 1.2.0
message: If you use this book or its package, please cite it, and the paper whose compiler it explains.
type: software
title: "Watch a Compiler Work: Relay, explained by watching it"
authors:
  - name: The Relay Explorer authors
version: {_project.VERSION}
license: Apache-2.0
repository-code: {_project.REPOSITORY}
references:
  - type: article
    title: "Relay: A High-Level Compiler for Deep Learning"
    authors:
      - {{ family-names: Roesch, given-names: Jared }}
      - {{ family-names: Lyubomirsky, given-names: Steven }}
      - {{ family-names: Kirisame, given-names: Marisa }}
      - {{ family-names: Weber, given-names: Logan }}
      - {{ family-names: Pollock, given-names: Josh }}
      - {{ family-names: Vega, given-names: Luis }}
      - {{ family-names: Jiang, given-names: Ziheng }}
      - {{ family-names: Chen, given-names: Tianqi }}
      - {{ family-names: Moreau, given-names: Thierry }}
      - {{ family-names: Tatlock, given-names: Zachary }}
    year: 2019
    identifiers:
      - {{ type: other, value: "arXiv:1904.08368" }}
"""


def blocks() -> dict[str, str]:
    """Return the derived blocks of Markdown files, by name."""
    return {
        "clone": f"```sh\ngit clone {_project.REPOSITORY} && cd relay_explorer\nmake book\n```\n",
        "install": _install("notebook"),
        "model": _install("torch,compile"),
    }


def _install(extras: str) -> str:
    return f'```sh\npip install "{_project.requirement(extras)}"\n```\n'


def derived(text: str) -> str:
    """Return a Markdown file's text with its derived blocks regenerated."""
    return _BLOCK.sub(lambda match: match[1] + blocks()[match["name"]] + match[3], text)


def main() -> int:
    """Rewrite the derived files."""
    (ROOT / "CITATION.cff").write_text(citation(), "utf-8")
    readme = ROOT / "README.md"
    readme.write_text(derived(readme.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
