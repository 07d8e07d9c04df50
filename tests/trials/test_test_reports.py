"""Test reports of the runners, each as its documentation shows it."""

import pytest

from whet.trials.test_reports import outcomes_of

REPORTS = {
    "pytest": ("PASSED tests/a.py::test_one\nFAILED tests/a.py::test_two - assert 1 == 2\n1 failed, 1 passed in 0.1s\n",
               {"tests/a.py::test_one": True, "tests/a.py::test_two": False}),
    "unittest": ("test_one (a.Part.test_one) ... ok\ntest_two (a.Part.test_two) ... FAIL\n",
                 {"test_one (a.Part.test_one)": True, "test_two (a.Part.test_two)": False}),
    "go": ("=== RUN   TestOne\n--- PASS: TestOne (0.00s)\n    a_test.go:9: no\n--- FAIL: TestTwo (0.00s)\n",
           {"TestOne": True, "TestTwo": False}),
    "cargo": ("running 2 tests\ntest part::one ... ok\ntest part::two ... FAILED\n",
              {"part::one": True, "part::two": False}),
    "tap": ("TAP version 13\nok 1 - adds\nnot ok 2 - takes away\n", {"adds": True, "takes away": False}),
    "jest": ("PASS src/a.test.js\n  cart\n    ✓ adds (2 ms)\n    ✕ takes away\n",
             {"src/a.test.js > cart > adds": True, "src/a.test.js > cart > takes away": False}),
    "vitest": (" ✓ src/a.test.ts > cart > adds 2ms\n × src/a.test.ts > cart > takes away 1ms\n",
               {"src/a.test.ts > cart > adds": True, "src/a.test.ts > cart > takes away": False}),
    "bun": ("a.test.ts:\n(pass) adds [0.12ms]\n(fail) takes away [0.08ms]\n", {"adds": True, "takes away": False}),
    "junit": ('<testcase classname="a" name="one"/><testcase classname="a" name="two"><failure>no</failure></testcase>',
              {"a one": True, "a two": False}),
}  # fmt: skip


@pytest.mark.parametrize("runner", REPORTS)
def test_each_test_is_known_by_its_name(runner: str) -> None:
    text, outcomes = REPORTS[runner]
    assert outcomes_of(text) == outcomes


def test_a_test_that_is_reported_both_ways_has_not_passed() -> None:
    assert outcomes_of("PASSED a.py::one\nFAILED a.py::one\nPASSED a.py::one\n") == {"a.py::one": False}
