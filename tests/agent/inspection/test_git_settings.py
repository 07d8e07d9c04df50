"""Settings of git that run something are never taken for a description, however they are written."""

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.agent.inspection.spots import DESCRIBING, DESCRIBING_NAMED, orders

PLAIN = """\
# made by git
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
[remote "origin"]
\tfetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
\tremote = origin
\tmerge = refs/heads/main
\tvscode-merge-base = origin/main
[user]
\tname = Ada Lovelace
"""


def test_what_git_itself_writes_only_describes() -> None:
    assert orders(PLAIN) == frozenset()


@pytest.mark.parametrize(
    "text",
    [
        "[core]\n\tfsmonitor = evil\n",
        "[CORE]\n\tFsMonitor=evil\n",
        "[core] fsmonitor = evil\n",
        "[core]fsmonitor=evil\n",
        "[core]\r\n\tfsmonitor = evil\r\n",
        "\ufeff[core]\n\tfsmonitor = evil\n",
        "[core]\n\tbare = false \\\n\tfsmonitor = evil\n",
        '[user]\n\tname = "a\\\n"\n[core]\n\tfsmonitor = evil',
        "[core]\n\tfsmonitor\n",
        "[alias]\n\tst = !evil\n",
        "[include]\n\tpath = ../x\n",
        '[includeIf "gitdir:/"]\n\tpath = ../x\n',
        '[filter "z"]\n\tclean = evil\n',
        '[submodule "x"]\n\tupdate = !evil\n',
        '[remote "o"]\n\tuploadpack = evil\n',
        '[remote "o"]\n\turl = ext::sh -c evil\n',
        '[remote "o"]\n\turl = --upload-pack=evil\n',
        '[branch "m"]\n\tremote = ext::sh\n',
        '[branch "m"]\n\tmergeOptions = -s evil\n',
        '[url "ext::sh"]\n\tinsteadOf = https://\n',
        "[protocol]\n\tallow = always\n",
        "[credential]\n\thelper = !evil\n",
        "[gpg]\n\tprogram = evil\n",
        "[core.x]\n\tbare = true\n",
        '[core "x"]\n\tbare = true\n',
        "fsmonitor = evil\n",
    ],
)
def test_an_order_is_told(text: str) -> None:
    found = orders(text)
    assert found
    assert not all(order.is_address for order in found)


def test_an_address_is_told_apart() -> None:
    [order] = orders('[remote "origin"]\n\turl = https://host/x\n')
    assert order.is_address


PIECES = st.sampled_from(
    ["[core]", "[", "]", '"', "core", "include", '[remote "o"]', '[a "b"]', "[user]", "\n", "\r\n", "\\", "\\\n", " ",
     "\t", "=", "bare", "fsmonitor", "path", "url", "name", "evil", "::", "#", ";", "!", "-", ".", "\x0b", "\ufeff"]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join))
def test_git_finds_no_order_where_none_is_told(text: str) -> None:
    """Git's own reader is the judge: what it takes from a file without orders only describes."""
    if orders(text.encode().decode("latin-1")):
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "config")
        file.write_bytes(text.encode())
        listing = ["git", "config", "--file", str(file), "--list", "--name-only", "-z"]
        done = subprocess.run(listing, capture_output=True, check=False, cwd=folder)
    for key in filter(None, done.stdout.decode().split("\0")):
        section, _, rest = key.partition(".")
        known = DESCRIBING_NAMED if "." in rest else DESCRIBING
        assert rest.rpartition(".")[2].lower() in known[section]
