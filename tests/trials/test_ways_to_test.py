"""Ways to run tests, as a project's files tell them."""

import pytest

from conversations import conversation, shell, user
from whet.trials.test_reports import outcomes_of
from whet.trials.ways_to_test import detected, is_code, is_test, own_way, way_of_session, with_files

PACKAGE = '{"scripts": {"test": "vitest run"}}'


@pytest.mark.parametrize(
    ("paths", "texts", "tests", "line"),
    [
        (["tests/test_a.py", "a.py"], {}, ["tests/test_a.py", "tests/conftest.py"],
         "python3 -m pytest -q -rA -p no:cacheprovider tests/test_a.py"),
        (["go.mod", "a/b_test.go"], {}, ["a/b_test.go", "a/c_test.go", "d_test.go"], "go test -v . ./a"),
        (["Cargo.toml"], {}, ["tests/a.rs"], "cargo test --offline --no-fail-fast"),
        (["package.json"], {"package.json": PACKAGE}, ["a.test.ts", "x.md"],
         "npm run test -- --reporter=verbose a.test.ts"),
        (["package.json", "pnpm-lock.yaml"], {"package.json": PACKAGE}, ["a.spec.js"],
         "pnpm run test --reporter=verbose a.spec.js"),
        (["package.json", "bun.lock"], {"package.json": PACKAGE}, ["a.test.ts"],
         "bun run test --reporter=verbose a.test.ts"),
        (["package.json", "bun.lock", "a.test.ts"], {"package.json": "{}"}, ["a.test.ts"], "bun test ./a.test.ts"),
        (["package.json", "a.test.js"], {"package.json": "{}"}, ["a.test.js"], "node --test a.test.js"),
        (["package.json"], {"package.json": '{"scripts": {"test": "node --test && npm run types"}}'}, ["a.test.js"],
         "node --test a.test.js"),
        (["package.json"], {"package.json": '{"scripts": {"test": "lint && jest"}, "devDependencies": {"jest": "1"}}'},
         ["a.test.js"], "node_modules/.bin/jest --ci --verbose a.test.js"),
        (["Makefile"], {"Makefile": "all:\n\ttrue\ntest: all\n\t./run\n"}, ["tests/a"], "make test"),
    ],
)  # fmt: skip
def test_the_command_for_the_tests_of_a_commit(
    paths: list[str], texts: dict[str, str], tests: list[str], line: str
) -> None:
    way = detected(paths, texts)
    assert way is not None
    assert way.line(tests) == line


def test_a_runner_that_reports_by_name_is_preferred_to_make() -> None:
    way = detected(["CMakeLists.txt", "Makefile"], {"Makefile": "test:\n\t./run\n"}, ["tests/a.c"])
    assert way is not None
    assert "--output-junit" in way.line(["tests/a.c"])


def test_a_project_that_tells_nothing_has_no_way() -> None:
    assert detected(["a.c", "package.json"], {"package.json": "not json"}) is None
    assert detected(["Makefile"], {"Makefile": "latest:\n\ttrue\n"}) is None


def test_a_project_with_its_code_in_src_finds_it_there_and_not_where_it_is_installed() -> None:
    way = detected(["src/a.py", "tests/test_a.py"], {})
    assert way is not None
    assert way.environment["PYTHONPATH"] == "src"


def test_what_is_a_test_what_is_code_and_what_is_neither() -> None:
    tests = ("tests/data/x.json", "a/test_b.py", "a/b_test.go", "src/x.spec.tsx", "FooTest.java", "web/__tests__/a.js")
    assert all(map(is_test, tests))
    assert not any(map(is_code, tests))
    assert not any(map(is_test, ("src/latest.py", "attest.go", "contest/a.py")))
    assert is_code("src/latest.py")
    assert not is_code("README.md")


def test_an_own_command_names_the_files_where_it_says_so() -> None:
    assert own_way("./dev test {files}").line(["tests/a_test.rb", "tests/data.yml"]) == "./dev test tests/a_test.rb"
    assert own_way("./dev test").line(["tests/a_test.rb"]) == "./dev test"


def test_what_pytest_says_of_each_test() -> None:
    text = (
        "PASSED tests/a.py::test_one[x y]\nFAILED tests/a.py::test_two - assert 1 == 2\nERROR tests/b.py::test_three\n"
    )
    assert outcomes_of(text) == {
        "tests/a.py::test_one[x y]": True,
        "tests/a.py::test_two": False,
        "tests/b.py::test_three": False,
    }


def test_the_last_command_by_which_a_session_ran_its_tests() -> None:
    ran = conversation(user("Go."), shell("npm test", "ok"), shell("./dev test", "ok"), shell("npm run lint", "ok"))
    assert way_of_session(ran) == own_way("./dev test")
    assert way_of_session(conversation(user("Go."), shell("ls", "ok"))) is None


def test_a_script_that_the_person_names_is_the_way_whatever_it_is_called() -> None:
    told = (user("Mend it. Run the tests with `./go`."), shell("./go part3", "ok"), shell("./stop", "ok"))
    assert way_of_session(conversation(*told)) == own_way("./go part3")


@pytest.mark.parametrize(
    ("line", "way"),
    [
        ("./dev test tests/test_a.py::test_one tests/test_b.py -x", "./dev test {files} -x"),
        ("npx vitest run src/a.test.ts", "npx vitest run {files}"),
        ("make test", "make test"),
    ],
)
def test_the_files_that_a_session_named_give_their_place_to_others(line: str, way: str) -> None:
    assert with_files(line) == way
