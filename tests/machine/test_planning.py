"""The plan of setting up: every step once, in order, with its state."""

from whet.machine.looking import AgentFacts, MachineFacts, StepState, planned

CLAUDE = AgentFacts("claude-code", "Claude Code", 3, False, "/c/settings.json", "", False, "/c/CLAUDE.md")
FACTS = MachineFacts((CLAUDE,), "systemd", "/u/whet.service", nightly_at="03:30")


def test_an_agent_is_imported_hooked_and_told_and_the_worker_runs() -> None:
    steps = planned(FACTS)
    assert [step.kind for step in steps] == ["import", "hooks", "target", "service", "nightly"]
    assert {step.state for step in steps} == {StepState.TO_DO}
    assert steps[0].words == "Import the sessions of Claude Code: 3 new files"


def test_what_is_done_is_not_done_again() -> None:
    done = AgentFacts("claude-code", "Claude Code", 0, True, "/c", "", True, "/c")
    steps = planned(MachineFacts((done,), "systemd", "/u", True, nightly_at="03:30", has_nightly=True))
    assert {step.state for step in steps} == {StepState.DONE}
    assert "import" not in {step.kind for step in steps}


def test_an_agent_without_hooks_or_rules_is_only_imported() -> None:
    steps = planned(MachineFacts((AgentFacts("pi", "pi", 1),), why_no_service="no systemd"))
    assert [(step.kind, step.state) for step in steps] == [
        ("import", StepState.TO_DO), ("service", StepState.NOT_POSSIBLE), ("nightly", StepState.TO_DO)
    ]  # fmt: skip
    assert steps[1].why_not == "no systemd"


def test_a_part_is_left_out_where_the_person_says_so() -> None:
    kinds = {step.kind for step in planned(FACTS, without=frozenset({"hooks", "service"}))}
    assert kinds == {"import", "target", "nightly"}


def test_the_plugin_is_installed_where_the_agents_own_program_is_there() -> None:
    agent = AgentFacts("codex", "Codex", is_hooked=False, hooks_file="hooks.json", plugin_program="/bin/codex")
    step = planned(MachineFacts((agent,)))[0]
    assert "Whet's plugin (hooks, commands, MCP server) in Codex with /bin/codex" in step.words


def test_the_plan_says_how_the_plugins_server_can_run() -> None:
    agent = AgentFacts("codex", "Codex", is_hooked=False, hooks_file="hooks.json", plugin_program="/bin/codex")
    server = planned(MachineFacts((agent,), how_to_add_mcp="pip install X"))[1]
    assert (server.state, server.why_not) == (StepState.NOT_POSSIBLE, "it needs a library: run `pip install X`")
    without_plugin = AgentFacts("codex", "Codex", is_hooked=False, hooks_file="hooks.json")
    assert "mcp" not in {step.name for step in planned(MachineFacts((without_plugin,), how_to_add_mcp="pip install X"))}
