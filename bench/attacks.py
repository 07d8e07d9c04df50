"""Every way in that was tried: route, attempts, and how many got through. Prints the table of bench/RESULTS.md.

Each module `attacks_*.py` beside this one has `rows()`, which yields (area, route, attempts, through).

    python bench/attacks.py [AREA …]
"""

import importlib
import sys
from pathlib import Path


def main(areas: list[str]) -> int:
    worst = 0
    print("| area | route | attempts | through |\n|---|---|--:|--:|")
    for path in sorted(Path(__file__).parent.glob("attacks_*.py")):
        if areas and path.stem.removeprefix("attacks_") not in areas:
            continue
        for area, route, attempts, through in importlib.import_module(path.stem).rows():
            print(f"| {area} | {route} | {attempts} | {through} |", flush=True)
            worst += through
    return int(worst > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
