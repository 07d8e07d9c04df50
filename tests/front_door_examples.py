"""Runs the examples in the docstrings of `import whet`, in the folder of the project and a home that is filled."""

import doctest
import inspect
import sys

import whet


def names_and_methods() -> dict[str, object]:
    """Every name of the front door, and every method of the store."""
    found = {name: getattr(whet, name) for name in whet.__all__}
    methods = inspect.getmembers(whet.Store, inspect.isfunction)
    return {**found, **{f"Store.{name}": method for name, method in methods if not name.startswith("_")}}


def main() -> int:
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    for name, documented in names_and_methods().items():
        for test in finder.find(documented, name, module=False, globs={}):
            runner.run(test)
    return runner.summarize().failed


if __name__ == "__main__":
    sys.exit(main())
