"""whet completion: the script by which a shell completes commands and options."""

import click

SHELLS = ("bash", "zsh", "fish")


@click.command(
    "completion",
    epilog="Example: whet completion bash >> ~/.bashrc",
    help="Print the script that completes commands and options in your shell. For bash and zsh, add"
    ' `eval "$(whet completion SHELL)"` to ~/.bashrc or ~/.zshrc; for fish, run'
    " `whet completion fish > ~/.config/fish/completions/whet.fish`.",
)
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> int:
    from click.shell_completion import get_completion_class

    from whet.cli.group import COMPLETION_VARIABLE, group

    kind = get_completion_class(shell)
    if kind is not None:
        click.echo(kind(group, {}, "whet", COMPLETION_VARIABLE).source())
    return 0
