"""The plugin's files agree with each other and with the commands that they name."""

import json
import re
from pathlib import Path

import pytest

from command import Whet
from telling.hooks.hosts import PLUGIN, ROOT
from whet import __version__

MANIFESTS = [".claude-plugin/plugin.json", ".codex-plugin/plugin.json", "gemini/gemini-extension.json"]
PAGES = sorted([*PLUGIN.glob("commands/*.md"), *PLUGIN.glob("skills/*/SKILL.md")])


@pytest.mark.parametrize("manifest", MANIFESTS)
def test_every_manifest_names_this_version(manifest: str) -> None:
    found = json.loads((PLUGIN / manifest).read_text())
    assert (found["name"], found["version"]) == ("whet", __version__)


def test_the_marketplace_leads_to_the_plugin() -> None:
    [entry] = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text())["plugins"]
    assert (ROOT / entry["source"]).resolve() == PLUGIN


def test_the_package_has_the_same_marketplace() -> None:
    own, shipped = (
        json.loads((folder / ".claude-plugin" / "marketplace.json").read_text()) for folder in (ROOT, PLUGIN.parent)
    )
    [entry] = shipped["plugins"]
    assert (PLUGIN.parent / entry["source"]).resolve() == PLUGIN
    entry["source"] = own["plugins"][0]["source"]
    assert shipped == own


def test_every_host_brings_the_mcp_server() -> None:
    server = {"whet": {"command": "whet", "args": ["mcp"]}}
    assert json.loads((PLUGIN / ".mcp.json").read_text())["mcpServers"] == server
    assert json.loads((PLUGIN / ".codex-plugin" / "plugin.json").read_text())["mcpServers"] == "./.mcp.json"
    geminis = json.loads((PLUGIN / "gemini" / "gemini-extension.json").read_text())["mcpServers"]["whet"]
    assert 0 < geminis.pop("timeout") <= 30_000, "it waits for its servers, ten minutes by default"
    assert geminis == server["whet"]
    assert 'command: ["whet", "mcp"]' in (PLUGIN / "opencode" / "whet.js").read_text()


def test_all_hosts_share_one_folder_of_skills() -> None:
    assert (PLUGIN / "gemini" / "skills").resolve() == PLUGIN / "skills"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_every_command_that_a_page_names_is_one(page: Path, whet: Whet) -> None:
    named = {tuple(found.split()) for found in re.findall(r"`whet ((?:[a-z]+ ?){1,2})", page.read_text())}
    assert named
    for words in named:
        done = whet(words[0], "--help")
        assert done.code == 0, f"{page.name} names whet {words[0]}"
        if len(words) > 1:
            assert words[1] in done.out, f"{page.name} names whet {' '.join(words)}"
