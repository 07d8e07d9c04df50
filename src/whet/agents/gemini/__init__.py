"""Gemini CLI: what Whet knows of it."""

from whet.agents.agent import Agent, AgentFiles, AgentHooks, AgentPlugin, AgentReading, HostMarks

AGENT = Agent(
    "gemini",
    records="whet.agents.gemini.records:FORMAT",
    files=AgentFiles(
        folder=".gemini",
        everywhere=("GEMINI.md",),
        project=("GEMINI.md",),
        skills="~/.agents/skills",
        project_skills=".agents/skills",
    ),
    reading=AgentReading(on_demand=(".agents/skills/*/SKILL.md",), follows_imports=True),
    models=("gemini", "gemma"),
    hooks=AgentHooks(
        "settings.json",
        marks=HostMarks(record=r"/\.gemini/"),
        shell="run_shell_command",
        at_call="AfterTool",  # it takes what is said before a call for nobody
        second=1_000,
        gives_way=True,
    ),
    plugin=AgentPlugin(
        "gemini",
        add=(("extensions", "link", "{folder}/whet/gemini", "--consent"),),
        remove=(("extensions", "uninstall", "whet"),),
        notes="settings.json",
        noted="extensions/",
    ),
    executor="whet.agents.executors:GEMINI",
    reader="whet.agents.executors:GEMINI_READER",
    shell=("GEMINI_CLI",),
    programs=("gemini",),
)
