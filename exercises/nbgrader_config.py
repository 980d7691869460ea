"""nbgrader's settings for this folder as a course: `cd exercises`, then `nbgrader generate_assignment NAME`,
`nbgrader autograde NAME`, `nbgrader export` as nbgrader documents them.
"""

from __future__ import annotations

from typing import Any


def configure(config: Any) -> None:
    """Set what generating and grading need, wherever the course's folder is."""
    config.CourseDirectory.course_id = "relay_explorer"
    config.ClearSolutions.code_stub = {"python": "# Your code here.\nraise NotImplementedError"}
    # A wrong answer may run into the time limit of a case in every check; code outside of checks has none.
    config.Execute.timeout = 60
    config.Execute.raise_on_iopub_timeout = False


if "get_config" in globals():  # nbgrader reads this file with `get_config` defined
    configure(get_config())  # type: ignore[name-defined]  # noqa: F821
