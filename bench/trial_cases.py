"""Small tasks with files and tools for trials on weak models, each with its own check, and work to mine examples from.

Forty-eight take one step and twenty-four take several. The work shows other files, other words and other values.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from whet.trials.cases import Case, Limits
from whet.trials.checks import CallDemand, Check, FileDemand
from whet.trials.shapes import CallShape

TOOLS = ("files", "terminal")
ONE_STEP = Limits(model_calls=1, seconds=600.0)
SEVERAL_STEPS = Limits(model_calls=6, seconds=900.0)


def _step(name: str, task: str, check: Check, files: Mapping[str, str] | None = None) -> Case:
    return Case(task, check, name, files=dict(files or {}), tools=TOOLS, budget=ONE_STEP)


def _calls(tool: str, **arguments: Any) -> Check:
    return Check(calls=CallDemand(one_of=(CallShape(tool, arguments),), valid=True))


Order = tuple[str, str]
Change = tuple[str, str, str, str]

READING: tuple[Order, ...] = (
    ("invoice.txt", "Read invoice.txt."),
    ("helper.py", "Let me see the file helper.py."),
    ("CHANGES.md", "What is written in CHANGES.md?"),
    ("deploy.yaml", "Open deploy.yaml, please."),
    ("recipe.txt", "I want to know what recipe.txt says."),
    ("orders.csv", "Print the contents of orders.csv."),
    ("tsconfig.json", "Have a look into tsconfig.json."),
    ("minutes.txt", "Could you read minutes.txt to me?"),
    ("error.log", "Read error.log. What is the last line?"),
    ("address.txt", "Which street is in address.txt? Look it up there."),
    ("team.csv", "Who is on the team? The file team.csv has it."),
    ("schema.sql", "Show schema.sql."),
)
WRITING: tuple[tuple[str, str, str], ...] = (
    ("answer.txt", "Yes", "Write the word Yes into the file answer.txt."),
    ("b.txt", "two", 'Make the file b.txt. Its content is "two".'),
    ("release.txt", "2.0.1", 'Save "2.0.1" in release.txt.'),
    ("shopping.md", "bread and butter", 'Create shopping.md with the text "bread and butter".'),
    ("y.py", "print(2)", "Write this line of code to y.py: print(2)"),
    ("owner.txt", "Grace", "The file owner.txt should hold the name Grace. Create it."),
    ("timeout.txt", "30", "Write the number 30 into timeout.txt."),
    ("country.txt", "Portugal", "Put the word Portugal into country.txt."),
    ("rule.txt", "measure twice", 'Write "measure twice" to rule.txt.'),
    ("mode.txt", "fast", "Write fast into mode.txt."),
    ("year.txt", "2031", "Create a file year.txt that says 2031."),
    ("farewell.txt", "Good night", 'Make farewell.txt with "Good night" in it.'),
)
EDITING: tuple[Change, ...] = (
    ("lib.py", "alpha", "omega", "In lib.py replace alpha by omega."),
    ("theme.css", "green", "black", 'Replace "green" with "black" in theme.css.'),
    ("util.c", "1024", "2048", "Change 1024 to 2048 in util.c."),
    ("faq.md", "soon", "now", 'In faq.md, "soon" should become "now".'),
    ("essay.txt", "recieve", "receive", "Correct recieve to receive in essay.txt."),
    ("menu.txt", "soup", "salad", "In menu.txt, change soup to salad."),
    ("wifi.ini", "off", "on", "Edit wifi.ini: replace off by on."),
    ("poem.txt", "night", "day", 'In poem.txt, write "day" where it says "night".'),
    ("form.html", "Send", "Submit", "Edit form.html so that Send becomes Submit."),
    ("values.yaml", "debug", "info", "In values.yaml replace debug by info."),
    ("Dockerfile", "bullseye", "bookworm", "Replace bullseye by bookworm in Dockerfile."),
    ("spec.js", "true", "false", "In spec.js, change true to false."),
)
RUNNING: tuple[Order, ...] = (
    ("ls", "Run the command ls."),
    ("git log", "Run `git log`."),
    ("npm test", "Execute npm test in the shell."),
    ("uptime", "Run the shell command uptime."),
    ("node --version", "Run node --version in the terminal."),
    ("free -m", "Use the terminal to run free -m."),
    ("make build", "Run `make build` and say whether it works."),
    ("id -u", "Please run id -u."),
    ("hostname", "What is this machine called? Run hostname."),
    ("wc -l notes.txt", "Run wc -l notes.txt in the shell."),
    ("sort notes.txt | head -1", "Run this: sort notes.txt | head -1"),
    ("echo ready", "Use the shell to run echo ready."),
)


def reading(orders: Sequence[Order]) -> list[Case]:
    return [
        _step(f"read-{path.partition('.')[0].lower()}", task, _calls("read_file", path=path),
              {path: f"port = 8080 of {path}\nversion 1.4, Lisbon, 12 apples\n"})
        for path, task in orders
    ]  # fmt: skip


def writing(orders: Sequence[tuple[str, str, str]]) -> list[Case]:
    return [
        _step(f"write-{path.partition('.')[0].lower()}", task, Check(files={path: FileDemand(equals=text)}))
        for path, text, task in orders
    ]


def editing(orders: Sequence[Change]) -> list[Case]:
    return [
        _step(f"edit-{path.partition('.')[0].lower()}", task,
              Check(files={path: FileDemand(equals=f"line one\nhere: {new}\n")}), {path: f"line one\nhere: {old}\n"})
        for path, old, new, task in orders
    ]  # fmt: skip


def running(orders: Sequence[Order]) -> list[Case]:
    return [
        _step(f"run-{'-'.join(command.split()[:2]).replace('--', '').strip('-')}", task,
              _calls("terminal", command=command), {"notes.txt": "one\ntwo\n"})
        for command, task in orders
    ]  # fmt: skip


def one_step() -> tuple[Case, ...]:
    """Forty-eight tasks in which the first call decides."""
    return (*reading(READING), *writing(WRITING), *editing(EDITING), *running(RUNNING))


TOOL_OF = {"read": "read_file", "write": "write_file", "edit": "edit", "run": "terminal"}


def by_tool(case: Case) -> Case:
    """A case of one step with a lighter check, for weak models: its call is the right tool's, and well formed."""
    tool = TOOL_OF.get(case.name.partition("-")[0])
    return replace(case, check=Check(calls=CallDemand(one_of=(CallShape(tool),), valid=True))) if tool else case


def several(name: str, task: str, files: dict[str, str], wanted: dict[str, str | None]) -> Case:
    """A file that is wanted as None must be gone."""
    held = {path: FileDemand(absent=True) if text is None else FileDemand(equals=text) for path, text in wanted.items()}
    return Case(task, Check(files=held), f"steps-{name}", files=files, tools=TOOLS, budget=SEVERAL_STEPS)


def several_steps() -> tuple[Case, ...]:
    """Twenty-four tasks that need to look first and act then; the files in the end decide."""
    return (
        several("greet", "Put the text of hello.md into greeting.txt.",
                 {"hello.md": "Bom dia"}, {"greeting.txt": "Bom dia"}),
        several("release", "Which release does setup.cfg name? Write it into RELEASE.",
                 {"setup.cfg": "[metadata]\nname = y\nversion = 0.9.2\n"}, {"RELEASE": "0.9.2"}),
        several("lost", "One of the files holds the word passport. Write the file's name into place.txt.",
                 {"desk.txt": "pens\n", "shelf.txt": "passport\n", "bag.txt": "keys\n"}, {"place.txt": "shelf.txt"}),
        several("lower", "Write the word in loud.txt in small letters into quiet.txt.",
                 {"loud.txt": "THUNDER"}, {"quiet.txt": "thunder"}),
        several("second", "Write the second line of queue.txt into next.txt.",
                 {"queue.txt": "Ann\nBob\nCid\n"}, {"next.txt": "Bob"}),
        several("level", "Set the log level in log.ini to error.",
                 {"log.ini": "[log]\nlevel = debug\n"}, {"log.ini": "[log]\nlevel = error\n"}),
        several("capital", "Write the capital that land.json names into capital.txt.",
                 {"land.json": '{"name": "Peru", "capital": "Lima"}\n'}, {"capital.txt": "Lima"}),
        several("port", "Write the port from app.ini into port.txt, the number only.",
                 {"app.ini": "host = here\nport = 7421\n"}, {"port.txt": "7421"}),
        several("name", "Who is the author in book.txt? Write only the name into author.txt.",
                 {"book.txt": "title: Dune\nauthor: Herbert\n"}, {"author.txt": "Herbert"}),
        several("two-edits", "In poem.txt replace rose by tulip, and red by white.",
                 {"poem.txt": "a rose\nis red\n"}, {"poem.txt": "a tulip\nis white\n"}),
        several("two-files", "Create one.txt with the text 1 and two.txt with the text 2.",
                 {}, {"one.txt": "1", "two.txt": "2"}),
        several("count", "How many lines has list.txt? Write the number into count.txt.",
                 {"list.txt": "a\nb\nc\nd\n"}, {"count.txt": "4"}),
        several("fix", "calc.py prints 5 but should print 6. Correct the number in it.",
                 {"calc.py": "print(5)\n"}, {"calc.py": "print(6)\n"}),
        several("rename", "Rename old.txt to new.txt.", {"old.txt": "same\n"}, {"new.txt": "same\n", "old.txt": None}),
        several("append", "Add the line three at the end of count.txt.",
                 {"count.txt": "one\ntwo\n"}, {"count.txt": "one\ntwo\nthree\n"}),
        several("sum", "Add the two numbers in numbers.txt and write the sum into sum.txt.",
                 {"numbers.txt": "12\n30\n"}, {"sum.txt": "42"}),
        several("remove", "Delete the file trash.txt, and write done into log.txt.",
                 {"trash.txt": "x"}, {"log.txt": "done", "trash.txt": None}),
        several("both", "Write the word of left.txt, a space, and then the word of right.txt into both.txt.",
                 {"left.txt": "salt", "right.txt": "pepper"}, {"both.txt": "salt pepper"}),
        several("same-edit", "In en.txt and in us.txt replace lift by elevator.",
                 {"en.txt": "one lift\n", "us.txt": "the lift\n"},
                 {"en.txt": "one elevator\n", "us.txt": "the elevator\n"}),
        several("last", "Write the last line of events.log into last.txt.",
                 {"events.log": "start\nwork\nstop\n"}, {"last.txt": "stop"}),
        several("year", "In which year was the house in house.md built? Write the number only into year.txt.",
                 {"house.md": "# House\nBuilt in 1912, painted green.\n"}, {"year.txt": "1912"}),
        several("files", "How many files end in .txt? Write the number into number.md.",
                 {"p.txt": "1", "q.txt": "2", "r.txt": "3", "s.csv": "4"}, {"number.md": "3"}),
        several("longer", "Which of one.txt and two.txt is longer? Write its name into longer.md.",
                 {"one.txt": "a short line\n", "two.txt": "a line that is clearly longer than the other\n"},
                 {"longer.md": "two.txt"}),
        several("move", "Move the word in here.txt to there.txt, so that here.txt is gone.",
                 {"here.txt": "lamp"}, {"there.txt": "lamp", "here.txt": None}),
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
    Work("Read visits.txt, then write the word seen into status.txt.", {"visits.txt": "Monday: two\n"},
         (("read_file", {"path": "visits.txt"}), ("write_file", {"path": "status.txt", "content": "seen"})),
         "The word seen is now in status.txt."),
    Work("Create cup.txt with the word tea, then read it to be sure.", {},
         (("write_file", {"path": "cup.txt", "content": "tea"}), ("read_file", {"path": "cup.txt"})),
         "cup.txt now holds tea."),
)  # fmt: skip
