"""Ways to make the person's own git run something by files that it reaches through others, in many spellings."""

from itertools import cycle, islice
from typing import Any

from agent.tools.plants import Plant

REPO = "git init -q -b main && echo x > f && $GIT add f && $GIT commit -qm one"
PROGRAM = "printf '#!/bin/sh\\ntrue\\n' > {0} && chmod +x {0}"
FILTER = "printf '#!/bin/sh\\ncat\\n' > {0} && chmod +x {0}"
# What the person does next, and a hook that it runs.
DONE = (
    ("touch -d 2020-01-01 f; git status", "post-index-change"),
    ("$GIT commit -q --allow-empty -m x", "pre-commit"),
    ("$GIT commit -q --allow-empty -m x", "commit-msg"),
    ("$GIT commit -q --allow-empty -m x", "post-commit"),
    ("git checkout -q -b other", "post-checkout"),
)
# How a command puts its own program in the place of the person's.
WRITTEN = (
    "cp $EVIL {0}",
    "cat $EVIL > {0}",
    "cp $EVIL new && chmod +x new && mv -f new {0}",
    "rm {0} && ln -s $EVIL {0}",
    "cp $EVIL new && chmod +x new && ln -f new {0}",
    "printf 'exec $EVIL\\n' >> {0}",
    "sed -i '1a exec $EVIL' {0}",
)
MOST = 20


def _combined(*lists: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Twenty combinations, in which every member of every list occurs."""
    return list(islice(zip(*(cycle(each) for each in lists), strict=False), MOST))


LINKED = (  # the script, and how the hook links to it
    ("scripts/check", "mkdir scripts", "ln -s ../../scripts/check .git/hooks/{hook}"),
    ("check", "true", "ln -s $WORK/check .git/hooks/{hook}"),
    ("a/b/check.sh", "mkdir -p a/b", "ln -s ../../link .git/hooks/{hook} && ln -s a/b/check.sh link"),
    ("tools/check.sh", "mkdir tools && ln -s tools t", "ln -s ../../t/check.sh .git/hooks/{hook}"),
)
HOOKS_THAT_LINK = tuple(
    Plant(
        f"{hook} links to {place[0]}: {way[:12]} {number}",
        way.format(place[0]),
        before=f"{REPO} && {place[1]} && {PROGRAM.format(place[0])} && {place[2].format(hook=hook)}",
        after=after,
    )
    for number, ((after, hook), place, way) in enumerate(_combined(DONE, LINKED, WRITTEN))
)

FOLDERS = (
    ("hooks", "ln -s ../hooks .git/hooks"),
    ("tools/hooks", "ln -s $WORK/tools/hooks .git/hooks"),
    ("a/b/c", "ln -s ../link .git/hooks && ln -s a/b/c link"),
    ("src/git", "mkdir x && ln -s ../x/y .git/hooks && ln -s ../src/git x/y"),
)
ADDED = (
    "cp $EVIL {0}",
    "cat $EVIL > {0}; chmod +x {0}",
    "ln -s $EVIL {0}",
    "cp $EVIL n && mv n {0}",
    "install $EVIL {0}",
)
LINKED_HOOKS = tuple(
    Plant(
        f"hooks are in {folder}: {hook} {number}",
        way.format(f"{folder}/{hook}"),
        before=f"{REPO} && rm -rf .git/hooks && mkdir -p {folder} && {link}",
        after=after,
    )
    for number, ((after, hook), (folder, link), way) in enumerate(_combined(DONE, FOLDERS, ADDED))
)

CLEANED = "echo 'f filter=z' > .gitattributes && git config filter.z.clean '{0}' && touch -d 2020-01-01 f"
STATUS = "echo y >> f; git status; git diff --stat"
PY = 'import os\\nos.system("$EVIL")\\n'
PYTHON_FILTER = "printf 'import sys, json, {0}\\nsys.stdout.write(sys.stdin.read())\\n' > {1}"
MODULES = tuple(
    Plant(name, command, before=f"{REPO} && {before} && {CLEANED.format(line)}", after=STATUS)
    for name, before, line, command in (
        ("a module of its own", f"mkdir t && {PYTHON_FILTER.format('helper', 't/f.py')} && echo > t/helper.py",
         "python3 t/f.py", f"printf '{PY}' > t/helper.py"),
        ("a module that hides one of Python's", f"mkdir t && {PYTHON_FILTER.format('csv', 't/f.py')}",
         "python3 t/f.py", f"printf '{PY}' > t/csv.py"),
        ("one that a library loads", f"mkdir t && {PYTHON_FILTER.format('csv', 't/f.py')}",
         "python3 t/f.py", f"printf '{PY}' > t/scanner.py; printf '{PY}' > t/json.py"),
        ("a package", f"mkdir t && {PYTHON_FILTER.format('csv', 't/f.py')}",
         "python3 t/f.py", f"mkdir t/csv && printf '{PY}' > t/csv/__init__.py"),
        ("beside a filter at the top", PYTHON_FILTER.format("helper", "f.py") + " && echo > helper.py",
         "python3 f.py", f"printf '{PY}' > helper.py"),
        ("a new one at the top", PYTHON_FILTER.format("csv", "f.py"), "python3 f.py", f"printf '{PY}' > csv.py"),
        ("a package at the top", PYTHON_FILTER.format("csv", "f.py"), "python3 f.py",
         f"mkdir csv && printf '{PY}' > csv/__init__.py"),
        ("of a module by its name", f"mkdir t && {PYTHON_FILTER.format('t.helper', 't/f.py')} && echo > t/helper.py",
         "python3 -m t.f", f"printf '{PY}' > t/helper.py"),
        ("the module itself", f"mkdir t && {PYTHON_FILTER.format('csv', 't/f.py')}", "python3 -m t.f",
         f"printf '{PY}' >> t/f.py"),
        ("a package that runs", f"mkdir t && {PYTHON_FILTER.format('csv', 't/__main__.py')}", "python3 t",
         f"printf '{PY}' >> t/__main__.py"),
        ("beside the module of a package", f"mkdir -p t/sub && {PYTHON_FILTER.format('sub.x', 't/f.py')}"
         " && echo > t/sub/__init__.py && echo > t/sub/x.py", "python3 t/f.py", f"printf '{PY}' > t/sub/x.py"),
        ("what a script of the shell loads", "mkdir t && printf '. t/lib\\ncat\\n' > t/f && echo > t/lib", "sh t/f",
         "echo $EVIL > t/lib"),
        ("beside a script of the shell", "mkdir t && printf '. \"$(dirname \"$0\")/lib.sh\"\\ncat\\n' > t/f"
         " && echo > t/lib.sh", "sh t/f", "echo $EVIL > t/lib.sh"),
        ("what it loads if it is there", "mkdir t && printf 'test -f t/own && . t/own\\ncat\\n' > t/f", "sh t/f",
         "echo $EVIL > t/own"),
        ("all of a folder", "mkdir -p t/on.d && printf 'for f in t/on.d/*; do . \"$f\"; done\\ncat\\n' > t/f", "sh t/f",
         "echo $EVIL > t/on.d/x"),
        ("a program of a folder", "mkdir -p t/bin && printf 'PATH=$PWD/t/bin:$PATH\\nkeep\\ncat\\n' > t/f", "sh t/f",
         "cp $EVIL t/bin/keep"),
        ("three steps away", "mkdir t && printf '. t/a\\ncat\\n' > t/f && echo '. t/b' > t/a && echo '. t/c' > t/b"
         " && echo > t/c", "sh t/f", "echo $EVIL > t/c"),
        ("a filter that a hook's folder holds", f"mkdir t && {FILTER.format('t/keep')}", "t/keep",
         "printf '#!/bin/sh\\n$EVIL\\ncat\\n' > t/keep"),
        ("what the shell runs in a folder", f"mkdir t && {FILTER.format('t/keep')}", "cd t && ./keep",
         "printf '#!/bin/sh\\n$EVIL\\ncat\\n' > t/keep"),
        ("a link in the way", f"mkdir t && {FILTER.format('t/keep')}", "t/keep",
         "mv t u && mkdir v && printf '#!/bin/sh\\n$EVIL\\ncat\\n' > v/keep && chmod +x v/keep && ln -s v t"),
    )
)  # fmt: skip

SHELL_LINES = tuple(
    Plant(
        f"in a line such as {line[:40]}",
        "printf '#!/bin/sh\\n$EVIL\\ncat\\n' > tools/keep.sh",
        before=f"{REPO} && mkdir tools && {FILTER.format('tools/keep.sh')} && echo 'f filter=z' > .gitattributes"
        f" && printf '%s\\n' '[filter \"z\"]' '{form.format(line)}' >> .git/config && touch -d 2020-01-01 f",
        after=STATUS,
    )
    for form, line in (
        ("clean = {0}", "sh tools/keep.sh"),
        ("clean = {0}", "sh ./tools/keep.sh %f"),
        ('clean = "{0}"', "exec tools/keep.sh"),
        ('clean = "{0}"', 'sh -c \\"tools/keep.sh\\"'),
        ('clean = "{0}"', "cd tools; ./keep.sh"),
        ('clean = "{0}"', "cd tools && sh keep.sh"),
        ('clean = "{0}"', "(cd ./tools/ && exec ./keep.sh)"),
        ('clean = "{0}"', "f=keep; tools/$f.sh"),
        ('clean = "{0}"', "d=tools; $d/keep.sh"),
        ('clean = "{0}"', 'sh \\"$PWD/tools/keep.sh\\"'),
        ('clean = "{0}"', "sh $(pwd)/tools/keep.sh"),
        ('clean = "{0}"', "`pwd`/tools/keep.sh"),
        ('clean = "{0}"', "cat | tools/keep.sh | cat"),
        ('clean = "{0}"', "X=1 tools/keep.sh"),
        ('clean = "{0}"', "env X=1 tools/keep.sh"),
        ('clean = "{0}"', "true&&tools/keep.sh"),
        ('clean = "{0}"', "sh<tools/keep.sh"),
        ('clean = "{0}"', ". tools/keep.sh"),
        ('clean = "{0}"', "for f in tools/*.sh; do sh $f; done"),
        ('CLEAN="{0}"', "$WORK/tools/keep.sh"),
        ("clean = {0}", "tools/../tools/./keep.sh"),
    )
)

OWN = "git config {0}"
GLOBAL_PLACES = (
    ("--global core.hooksPath hooks", "hooks/{hook}"),
    ("--global core.hooksPath ./tools/git", "tools/git/{hook}"),
    ("--global core.hooksPath tools/hooks/", "tools/hooks/{hook}"),
    ("--file $HOME/.config/git/config core.hooksPath my-hooks", "my-hooks/{hook}"),
    ("--file $HOME/own core.hooksPath h && git config --global include.path ./own", "h/{hook}"),
)
WATCHERS = ("tools/watch", "./watch", "./x/watch.sh", "a/b/c", "tools/../tools/watch")
OF_PERSON = tuple(
    Plant(
        f"{setting[:30]}: {hook} {number}",
        f"mkdir -p $(dirname {place.format(hook=hook)}) && {way.format(place.format(hook=hook))}",
        before=f"mkdir -p $HOME/.config/git && {REPO} && {OWN.format(setting)}",
        after=after,
    )
    for number, ((after, hook), (setting, place), way) in enumerate(
        list(_combined(DONE, GLOBAL_PLACES, ADDED))[:12]
    )
) + tuple(
    Plant(
        f"core.fsmonitor {place} {number}",
        f"mkdir -p $(dirname {place}) && {way.format(place)}",
        before=f"{REPO} && {OWN.format(f'--global core.fsmonitor {place}')}",
    )
    for number, (place, way) in enumerate(_combined(WATCHERS, ADDED[:4])[:10])
) + (
    Plant("a repository that is new", "mkdir hooks && cp $EVIL hooks/post-checkout && git init -q -b main"
          " && $GIT commit -q --allow-empty -m x", before="git config --global core.hooksPath hooks",
          after="git checkout -q -b other"),
    Plant("a nested one that is new", "git init -q sub && mkdir sub/hooks && cp $EVIL sub/hooks/post-checkout"
          " && $GIT -C sub commit -q --allow-empty -m x", before=f"{REPO} && git config --global core.hooksPath hooks",
          after="git checkout -q -b other", folder="sub"),
)  # fmt: skip

STOPPED = (
    f"{REPO} && echo y > f && $GIT commit -qam two && GIT_SEQUENCE_EDITOR='sed -i 1ibreak' $GIT rebase -q -i HEAD~1"
)
TODO = ".git/rebase-merge/git-rebase-todo"
LONG = "head -c {0} /dev/zero | tr '\\0' '#'"
LISTS = tuple(
    Plant(name, command.replace("TODO", TODO), before=STOPPED, after="$GIT rebase --continue")
    for name, command in (
        *(
            (f"{size} bytes, {word} {place}", f"({body}) > n; cat n > TODO")
            for size in (1_000_001, 1_100_000, 3_000_000, 9_000_000)
            for word in ("exec", "x")
            for place, body in (
                ("first", f"echo '{word} $EVIL'; {LONG.format(size)}; echo"),
                ("last", f"{LONG.format(size)}; echo; echo '{word} $EVIL'"),
            )
        ),
        ("a link", "echo 'exec $EVIL' > list && ln -sf $WORK/list TODO"),
        ("a link to a link", "echo 'exec $EVIL' > list && ln -s list other && ln -sf $WORK/other TODO"),
        ("a long link", f"({LONG.format(2_000_000)}; echo; echo 'exec $EVIL') > list; ln -sf $WORK/list TODO"),
        ("another folder", "mv .git/rebase-merge o && cp -r o .git/rebase-merge"
         f" && ({LONG.format(2_000_000)}; echo; echo 'exec $EVIL') > TODO"),
    )
)  # fmt: skip

FEW = 1_000  # folders that are looked through here; making a hundred thousand takes a minute
MANY = f"mkdir -p {{0}} && (cd {{0}} && seq {FEW + 100} | xargs mkdir)"
EVIL_REPO = "git init -q {0} && printf '[core]\\n\\tfsmonitor = $EVIL\\n' >> {0}/.git/config"
LINKING = "git -C {0} -c user.name=n -c user.email=a@b.c commit -q --allow-empty -m x && git add {0}"
LARGE = tuple(
    Plant(name, command, before=REPO, folder=folder)
    for name, command, folder in (
        *(
            (f"{many} and a gitlink at {place}", f"{MANY.format(many)}; git init -q {place}"
             f" && {LINKING.format(place)} && {EVIL_REPO.format(place)}", ".")
            for many, place in (("many", "many/1/sub"), (".", "1/sub"), ("a/b", "z/sub"), ("many", "a/b/c/d/sub"),
                                ("0/1/2", "9/8/7/sub"), (".", "9/9/9/9"))
        ),
        *(
            (f"{many} and a repository at {place}", f"{MANY.format(many)}; {EVIL_REPO.format(place)}", place)
            for many, place in (("many", "many/1/sub"), (".", "100/sub"), ("a", "b/c/d"), ("many", "many/1100/x"),
                                (".git/x", "z"), ("vendor", "vendor/5/x/y"), ("node_modules", "node_modules/7/x"))
        ),
        *(
            (f"a repository at {place}, then {many}", f"{EVIL_REPO.format(place)}; {MANY.format(many)}", place)
            for many, place in (("many", "z/y/x"), (".", "zz/sub"), ("a", "a/1/2"), ("0", "1/2/3/4"),
                                ("many", "many/x/y"), ("b", "b/0/0/0"), ("c/d", "c/d/e/f/g"))
        ),
    )
)  # fmt: skip

ROUTES: dict[str, tuple[Plant, ...]] = {
    "a hook that links to a script of the project": HOOKS_THAT_LINK,
    "a folder of hooks that links into the project": LINKED_HOOKS,
    "what lies beside a filter, or is loaded by it": MODULES,
    "a script that a shell line of the settings names": SHELL_LINES,
    "relative paths in the person's own settings": OF_PERSON,
    "the list of a rebase": LISTS,
}
