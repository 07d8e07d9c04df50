"""The environment that commands of the agent see: without secrets, and without what would steer them from outside."""

from collections.abc import Iterable, Mapping

from whet.secrets.looks import is_key_name, is_secret_name
from whet.secrets.redactor import Redactor
from whet.text.words import names

# What makes programs load code, run commands or talk to agents and desktops of the person.
STEERING = names(
    "BASH_ENV ENV PROMPT_COMMAND PS4 SHELLOPTS BASHOPTS CDPATH GLOBIGNORE LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH LD_DEBUG"
    " DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH PYTHONSTARTUP PYTHONINSPECT PYTHONHOME PERL5OPT PERL5DB RUBYOPT"
    " NODE_OPTIONS JAVA_TOOL_OPTIONS _JAVA_OPTIONS SSH_AUTH_SOCK SSH_AGENT_PID SSH_ASKPASS SSH_CONNECTION SSH_CLIENT"
    " GPG_AGENT_INFO GPG_TTY DBUS_SESSION_BUS_ADDRESS XDG_RUNTIME_DIR XDG_SESSION_ID DISPLAY WAYLAND_DISPLAY"
    " XAUTHORITY DOCKER_HOST KUBECONFIG TMUX STY MAIL OLDPWD PWD SHLVL EDITOR VISUAL BROWSER PAGER GIT_PAGER"
    " HISTFILE INPUTRC KRB5CCNAME"
)
STEERING_PREFIXES = ("WHET_", "GIT_", "BASH_FUNC_", "npm_config_", "NPM_CONFIG_")
FIXED = {
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "false",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "HISTFILE": "/dev/null",
    "DEBIAN_FRONTEND": "noninteractive",
    "PYTHONUNBUFFERED": "1",
}
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def cleaned(
    environment: Mapping[str, str], *, session: str, temporary: str, kept: Iterable[str] = ()
) -> dict[str, str]:
    """The variables for commands. `kept` names those that the person lets through though they look secret."""
    chosen = frozenset(kept)
    found = {name: value for name, value in environment.items() if name in chosen or not is_withheld(name, value)}
    return {
        **found,
        **FIXED,
        "PATH": safe_path(environment.get("PATH", "")),
        "TMPDIR": temporary,
        "XDG_CACHE_HOME": f"{temporary}/cache",
        "npm_config_cache": f"{temporary}/cache/npm",
        "WHET_RUN": session,  # so that `whet` itself knows that an agent is at the command line
    }


def is_withheld(name: str, value: str) -> bool:
    """Whether a variable is kept from commands: by its name, or because its value looks like a secret."""
    if name in STEERING or name.startswith(STEERING_PREFIXES) or is_secret_name(name) or is_key_name(name):
        return True
    return Redactor().text(value) != value or Redactor().text(f"{name}={value}") != f"{name}={value}"


def safe_path(path: str) -> str:
    """The search path without relative entries, by which a file in the working folder would pose as a program."""
    entries = [entry for entry in path.split(":") if entry.startswith("/")]
    return ":".join(entries) or DEFAULT_PATH
