"""What an agent is to Whet: its records, the files it reads, its hooks, its plugin, how it is run, its shell's marks.

Hooks load this and the registry at every call, so these hold plain values. What takes long to load, the
reader of its records and the way to run it, is named as `module:name` and loaded when it is used.
"""

from typing import NamedTuple


class AgentFiles(NamedTuple):
    """Where it reads. Of several files it reads the first that is there: a new one must not hide what it reads now."""

    folder: str  # its own folder, in the person's
    variable: str = ""  # the environment variable that names another
    everywhere: tuple[str, ...] = ()  # instructions for all projects; one that begins with ~ is not in its own folder
    project: tuple[str, ...] = ()  # instructions in a project
    skills: str = ""
    project_skills: str = ""
    preamble: bytes = b""  # how a new file begins
    has_default: bool = False  # in place of a file that is not there it says something that a new one would silence


class HostMarks(NamedTuple):
    """By what one of its events is known as its own, and what it does not say of a session in the event itself."""

    field: str = ""  # only it has a field of this name
    record: str = ""  # a pattern that is found in the path of its records only
    unattended: tuple[str, str] = ("", "")  # a variable, and how it begins where nobody sits there
    database: tuple[str, str, str] = ("", "", "")  # all its sessions: a variable, the folder without it, and the file


class AgentHooks(NamedTuple):
    """Its hooks: a list in a JSON file of its own, or one script, where `script` names the one that comes with Whet."""

    file: str  # in its own folder
    script: str = ""
    marks: HostMarks = HostMarks()
    shell: str = "Bash"  # what it names the calls of its shell
    at_call: str = "PreToolUse"  # the moment at which it hands context on to its model
    second: int = 1  # how many of its units of time a second has
    end_seconds: int = 5  # that it grants at the end of a session
    gives_way: bool = False  # whether its shell must: it stops that alone, and waits for what it began
    first_step: str = ""  # what a person has to do before it calls its hooks


class AgentPlugin(NamedTuple):
    """How its own program installs Whet's plugin. `{folder}` stands for the folder that holds the plugin."""

    program: str
    add: tuple[tuple[str, ...], ...]
    remove: tuple[tuple[str, ...], ...]
    notes: str  # the file that this changes, in its own folder
    noted: str  # where the plugin stands once it is there: a key of that file, or a folder that ends with /


class AgentReading(NamedTuple):
    """What else it reads, beside the files that Whet writes to. Patterns hold in every folder of a project."""

    always: tuple[str, ...] = ()  # patterns of files that it reads at the start of a session in their folder
    on_demand: tuple[str, ...] = ()  # read when it is needed: skills, rules for some files, commands
    memory: tuple[str, ...] = ()  # files of its own folder that it keeps for a project; {project} stands for it
    follows_imports: bool = False  # `@path` in one of its files


class Agent(NamedTuple):
    """One other program. `name` is what its sessions carry as their source, and what every command calls it."""

    name: str
    aliases: tuple[str, ...] = ()  # what it was called before, or is called for short
    records: str = ""  # its format of record: a whet.agents.formats.source.Format
    is_in_projects: bool = False  # its records lie where the person works, and may have come with a project
    files: AgentFiles | None = None
    reading: AgentReading = AgentReading()
    models: tuple[str, ...] = ()  # words in the names of the models that it runs; empty: any model
    hooks: AgentHooks | None = None
    plugin: AgentPlugin | None = None
    executor: str = ""  # how it is run without a person: a whet.agents.executor.Executor
    reader: str = ""  # how it answers one question without tools: a whet.agents.executor.ProgramReader
    shell: tuple[str, ...] = ()  # variables that it sets in the shells that it opens
    programs: tuple[str, ...] = ()  # what its processes are called
