"""Write every figure: `python -m figures`."""

from __future__ import annotations

from figures.gallery import FIGURES, FOLDER, render


def main() -> None:
    """Draw all figures again, and remove drawings that no script produces any more."""
    FOLDER.mkdir(exist_ok=True)
    drawings = render(FIGURES)
    for name, svg in drawings.items():
        (FOLDER / name).write_text(svg, "utf-8")
    for stray in {path.name for path in FOLDER.glob("*.svg")} - drawings.keys():
        (FOLDER / stray).unlink()


if __name__ == "__main__":
    main()
