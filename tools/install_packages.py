"""Install packages with pip into the environment that runs this script, and report progress.

Without options pip prints a line for each of some hundred packages; with `--quiet` it is silent for minutes.
"""

from __future__ import annotations

import subprocess
import sys
import time

EVERY = 25  # packages between two lines


def main() -> int:
    """Pass the arguments to `pip install`; on failure, print all of pip's output."""
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off"]
    start, count, output = time.monotonic(), 0, []

    def report(line: str) -> None:
        print(f"{time.monotonic() - start:4.0f} s  {line}", flush=True)

    report(f"pip install {' '.join(sys.argv[1:])}")
    with subprocess.Popen(
        [*command, *sys.argv[1:]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            output.append(line)
            if line.startswith("Collecting "):
                count += 1
                if count % EVERY == 0:
                    report(f"{count} packages found, the last one {line.split()[1]}")
            elif line.startswith("Installing collected packages"):
                report(f"installing {line.count(',') + 1} packages")
    if process.returncode:
        print("".join(output), file=sys.stderr)
    return process.returncode


if __name__ == "__main__":
    sys.exit(main())
