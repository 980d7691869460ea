"""`python -m exercises` writes the notebooks; `python -m exercises grade FOLDER` grades submissions."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import notebooks


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m exercises", description=__doc__)
    commands = parser.add_subparsers(dest="command")
    grade = commands.add_parser("grade", help="grade a folder of submissions into a table of points")
    grade.add_argument(
        "submissions",
        type=Path,
        help="a folder with STUDENT/EXERCISE.ipynb or STUDENT/EXERCISE/EXERCISE.ipynb",
    )
    grade.add_argument(
        "-o", "--out", type=Path, default=Path("grades.csv"), help="the table to write (grades.csv)"
    )
    grade.add_argument(
        "--graded", type=Path, help="a folder for the graded notebooks, with what failed in them"
    )
    options = parser.parse_args()
    if options.command == "grade":
        from .grading import grade_folder

        return grade_folder(options.submissions, options.out, options.graded)
    for path in notebooks.write_all():
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
