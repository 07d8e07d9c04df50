"""Small tasks with files and tools for trials on weak models, each with its own check, and work to mine examples from.

Forty-eight take one step and sixteen take several. The work shows other files, other words and other values.
"""

from typing import Any, NamedTuple

from msgspec.structs import replace

from whet.cases import Case, Limits
from whet.checks import Calls, Check, File, Shape

TOOLS = ("files", "terminal")
ONE_STEP = Limits(model_calls=1, seconds=600.0)
SEVERAL_STEPS = Limits(model_calls=6, seconds=900.0)


def _step(name: str, task: str, check: Check, **files: str) -> Case:
    held = {path.replace("__", "/").replace("_dot_", "."): text for path, text in files.items()}
    return Case(task, check, name, files=held, tools=TOOLS, budget=ONE_STEP)


def _calls(tool: str, **arguments: Any) -> Check:
    return Check(calls=Calls(first=Shape(tool, arguments), valid=True))


def _holds(**files: str) -> Check:
    return Check(files={path.replace("_dot_", "."): File(equals=text) for path, text in files.items()})


def _reading() -> list[Case]:
    orders = (
        ("notes.txt", "Read the file notes.txt."),
        ("main.py", "Show me what is in main.py."),
        ("README.md", "What does README.md say?"),
        ("settings.toml", "Open settings.toml and tell me the port."),
        ("plan.md", "Please read plan.md for me."),
        ("users.csv", "Look at the file users.csv."),
        ("package.json", "Read package.json and name its version."),
        ("diary.txt", "I need the contents of diary.txt."),
        ("server.log", "Read server.log and tell me what went wrong."),
        ("letter.txt", "Which city does letter.txt name? Read it."),
        ("stock.csv", "How many apples are there? It is in stock.csv, so read that file."),
        ("query.sql", "Read the query in query.sql."),
    )
    return [
        _step(f"read-{path.partition('.')[0].lower()}", task, _calls("read_file", path=path),
              **{path.replace(".", "_dot_"): f"port = 8080 of {path}\nversion 1.4, Lisbon, 12 apples\n"})
        for path, task in orders
    ]  # fmt: skip


def _writing() -> list[Case]:
    orders = (
        ("hello.txt", "Hello", "Write the word Hello into the file hello.txt."),
        ("a.txt", "one", 'Create a.txt with the content "one".'),
        ("VERSION.txt", "1.2.0", 'Write "1.2.0" to the file VERSION.txt.'),
        ("todo.md", "buy milk", 'Make a file todo.md that says "buy milk".'),
        ("x.py", "print(1)", "Save this code as x.py: print(1)"),
        ("name.txt", "Ada", 'Write the text "Ada" into name.txt.'),
        ("port.txt", "9000", "Put 9000 into a file called port.txt."),
        ("city.txt", "Lisbon", "Create the file city.txt. It should hold the word Lisbon."),
        ("motto.txt", "slow is smooth", 'Write "slow is smooth" into motto.txt.'),
        ("flag.txt", "on", "Write on into flag.txt."),
        ("count.txt", "42", "Store the number 42 in count.txt."),
        ("greeting.txt", "Good morning", 'Create greeting.txt with "Good morning" in it.'),
    )
    return [
        _step(f"write-{path.partition('.')[0].lower()}", task, _holds(**{path.replace(".", "_dot_"): text}))
        for path, text, task in orders
    ]


def _editing() -> list[Case]:
    orders = (
        ("app.py", "foo", "bar", "In app.py replace foo by bar."),
        ("style.css", "red", "blue", 'Change "red" to "blue" in style.css.'),
        ("main.c", "8080", "9090", "In main.c, replace the text 8080 by 9090."),
        ("about.md", "beta", "stable", 'Edit about.md: "beta" becomes "stable".'),
        ("draft.txt", "teh", "the", "Replace teh by the in draft.txt."),
        ("list.txt", "pears", "plums", "In list.txt, change pears to plums."),
        ("conf.ini", "false", "true", "Set the value false to true in conf.ini."),
        ("song.txt", "moon", "sun", 'In song.txt, put "sun" where it says "moon".'),
        ("page.html", "Old", "New", "Edit page.html so that Old becomes New."),
        ("data.yaml", "small", "large", "In data.yaml replace small by large."),
        ("Makefile", "gcc", "clang", "Change gcc to clang in Makefile."),
        ("test.js", "10", "20", "In test.js, replace 10 with 20."),
    )
    return [
        _step(f"edit-{path.partition('.')[0].lower()}", task,
              Check(files={path: File(equals=f"line one\nhere: {new}\n")}),
              **{path.replace(".", "_dot_"): f"line one\nhere: {old}\n"})
        for path, old, new, task in orders
    ]  # fmt: skip


def _running() -> list[Case]:
    orders = (
        ("ls -la", "Run the command ls -la."),
        ("git status", "Run `git status`."),
        ("pytest -q", "Execute this in the shell: pytest -q"),
        ("date", "Run the shell command date."),
        ("python --version", "Run python --version in the terminal."),
        ("df -h", "Use the terminal to run df -h."),
        ("make test", "Run `make test` and tell me if it works."),
        ("uname -a", "Please run uname -a."),
        ("whoami", "Which user am I? Run whoami."),
        ("du -sh .", "Run du -sh . in the shell."),
        ("cat notes.txt | wc -l", "Run this: cat notes.txt | wc -l"),
        ("echo hello", "Use the shell to run echo hello."),
    )
    return [
        _step(f"run-{'-'.join(command.split()[:2]).replace('--', '').strip('-')}", task,
              _calls("terminal", command=command), notes_dot_txt="one\ntwo\n")
        for command, task in orders
    ]  # fmt: skip


def one_step() -> tuple[Case, ...]:
    """Forty-eight tasks in which the first call decides."""
    return (*_reading(), *_writing(), *_editing(), *_running())


TOOL_OF = {"read": "read_file", "write": "write_file", "edit": "edit", "run": "terminal"}


def by_tool(case: Case) -> Case:
    """The case with a lighter check, for the weakest models: the first call is the right tool's, and well formed."""
    tool = TOOL_OF[case.name.partition("-")[0]]
    return replace(case, check=Check(calls=Calls(first=Shape(tool), valid=True)))


def _several(name: str, task: str, files: dict[str, str], wanted: dict[str, str]) -> Case:
    check = Check(files={path: File(equals=text) for path, text in wanted.items()})
    return Case(task, check, f"steps-{name}", files=files, tools=TOOLS, budget=SEVERAL_STEPS)


def several_steps() -> tuple[Case, ...]:
    """Sixteen tasks that need to look first and act then; the files in the end decide."""
    return (
        _several("copy", "Copy the text of a.txt into b.txt.", {"a.txt": "green tea"}, {"b.txt": "green tea"}),
        _several("port", "Write the port from app.ini into port.txt, the number only.",
                 {"app.ini": "host = here\nport = 7421\n"}, {"port.txt": "7421"}),
        _several("name", "Who is the author in book.txt? Write only the name into author.txt.",
                 {"book.txt": "title: Dune\nauthor: Herbert\n"}, {"author.txt": "Herbert"}),
        _several("two-edits", "In poem.txt replace rose by tulip, and red by white.",
                 {"poem.txt": "a rose\nis red\n"}, {"poem.txt": "a tulip\nis white\n"}),
        _several("two-files", "Create one.txt with the text 1 and two.txt with the text 2.",
                 {}, {"one.txt": "1", "two.txt": "2"}),
        _several("count", "How many lines has list.txt? Write the number into count.txt.",
                 {"list.txt": "a\nb\nc\nd\n"}, {"count.txt": "4"}),
        _several("version", "Read the version in package.json and write it into VERSION.",
                 {"package.json": '{"name": "x", "version": "3.1.4"}\n'}, {"VERSION": "3.1.4"}),
        _several("fix", "calc.py prints 5 but should print 6. Correct the number in it.",
                 {"calc.py": "print(5)\n"}, {"calc.py": "print(6)\n"}),
        _several("find", "One of the files holds the word needle. Write the file's name into found.txt.",
                 {"x.txt": "hay\n", "y.txt": "a needle\n", "z.txt": "hay\n"}, {"found.txt": "y.txt"}),
        _several("rename", "Rename old.txt to new.txt.", {"old.txt": "same\n"}, {"new.txt": "same\n"}),
        _several("append", "Add the line three at the end of count.txt.",
                 {"count.txt": "one\ntwo\n"}, {"count.txt": "one\ntwo\nthree\n"}),
        _several("upper", "Write the word in small.txt in capital letters into big.txt.",
                 {"small.txt": "apple"}, {"big.txt": "APPLE"}),
        _several("sum", "Add the two numbers in numbers.txt and write the sum into sum.txt.",
                 {"numbers.txt": "12\n30\n"}, {"sum.txt": "42"}),
        _several("first", "Write the first line of lines.txt into first.txt.",
                 {"lines.txt": "alpha\nbeta\n"}, {"first.txt": "alpha"}),
        _several("setting", "Turn the setting debug off in conf.toml: it should be false.",
                 {"conf.toml": "debug = true\n"}, {"conf.toml": "debug = false\n"}),
        _several("remove", "Delete the file trash.txt, and write done into log.txt.",
                 {"trash.txt": "x"}, {"log.txt": "done"}),
    )  # fmt: skip


class Work(NamedTuple):
    """A task that was done well once: its files, the calls that did it, and the closing words."""

    task: str
    files: dict[str, str]
    calls: tuple[tuple[str, dict[str, Any]], ...]
    answer: str


WORK = (
    Work("Read report.txt and tell me the total.", {"report.txt": "total: 70\n"},
         (("read_file", {"path": "report.txt"}),), "The total is 70."),
    Work("Create the file colour.txt with the word orange.", {},
         (("write_file", {"path": "colour.txt", "content": "orange"}),), "colour.txt now holds orange."),
    Work("In index.php replace cat by dog.", {"index.php": "the cat sat\n"},
         (("edit", {"path": "index.php", "old": "cat", "new": "dog"}),), "index.php now says dog."),
    Work("Run the command pwd.", {}, (("terminal", {"command": "pwd"}),), "The command printed the working folder."),
    Work("Which files hold the word invoice?", {"mail.txt": "your invoice\n"},
         (("search_files", {"pattern": "invoice"}),), "mail.txt holds it."),
    Work("Copy the key from box.txt into key.txt, the number only.", {"box.txt": "key 314\n"},
         (("read_file", {"path": "box.txt"}), ("write_file", {"path": "key.txt", "content": "314"})),
         "key.txt now holds 314."),
    Work("Change winter to summer in trip.md, then run cat trip.md.", {"trip.md": "in winter\n"},
         (("edit", {"path": "trip.md", "old": "winter", "new": "summer"}), ("terminal", {"command": "cat trip.md"})),
         "trip.md now says summer."),
)  # fmt: skip
