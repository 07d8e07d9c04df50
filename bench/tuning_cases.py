"""Tasks that were looked at while warm starts were made; what is reported was measured on others."""

from trial_cases import Change, Order, editing, reading, running, several, writing
from whet.trials.cases import Case

READING: tuple[Order, ...] = (
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
WRITING: tuple[tuple[str, str, str], ...] = (
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
EDITING: tuple[Change, ...] = (
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
RUNNING: tuple[Order, ...] = (
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


def tuning() -> tuple[Case, ...]:
    """Forty-eight tasks of one step."""
    return (*reading(READING), *writing(WRITING), *editing(EDITING), *running(RUNNING))


def tuning_steps() -> tuple[Case, ...]:
    """Seven tasks of several steps."""
    return (
        several("copy", "Copy the text of a.txt into b.txt.", {"a.txt": "green tea"}, {"b.txt": "green tea"}),
        several("version", "Read the version in package.json and write it into VERSION.",
                 {"package.json": '{"name": "x", "version": "3.1.4"}\n'}, {"VERSION": "3.1.4"}),
        several("find", "One of the files holds the word needle. Write the file's name into found.txt.",
                 {"x.txt": "hay\n", "y.txt": "a needle\n", "z.txt": "hay\n"}, {"found.txt": "y.txt"}),
        several("upper", "Write the word in small.txt in capital letters into big.txt.",
                 {"small.txt": "apple"}, {"big.txt": "APPLE"}),
        several("first", "Write the first line of lines.txt into first.txt.",
                 {"lines.txt": "alpha\nbeta\n"}, {"first.txt": "alpha"}),
        several("setting", "Turn the setting debug off in conf.toml: it should be false.",
                 {"conf.toml": "debug = true\n"}, {"conf.toml": "debug = false\n"}),
        several("colour", "Write the colour named in car.json into colour.txt.",
                 {"car.json": '{"wheels": 4, "colour": "silver"}\n'}, {"colour.txt": "silver"}),
    )  # fmt: skip
