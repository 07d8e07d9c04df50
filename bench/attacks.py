"""Every way in that was tried: route, attempts, and how many got through. Prints the table of bench/RESULTS.md.

Each module `attacks_*.py` beside this one has `rows()`, which yields (area, route, attempts, through).

    python bench/attacks.py [--every NUMBER] [AREA …]

`--every 20` tries every twentieth attempt of each route in the areas that take long.
"""

import argparse
import importlib
import sys
from pathlib import Path

from attack_sample import take_every


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("areas", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    areas = options.areas
    take_every(options.every)
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
    sys.exit(main())
