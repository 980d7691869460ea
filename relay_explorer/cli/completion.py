"""The command `completion`: print a script that completes the command line in a shell."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any, NamedTuple

from .parsers import add_command

SHELLS = ("bash", "zsh", "fish")


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "completion",
        "print a script that completes the command line in a shell",
        """\
  source <(relay-explorer completion bash)                  in ~/.bashrc
  source <(relay-explorer completion zsh)                   in ~/.zshrc, after compinit
  relay-explorer completion fish | source                   in ~/.config/fish/config.fish
""",
        _completion,
    )
    parser.add_argument("shell", choices=SHELLS)


class Option(NamedTuple):
    """An option: its names, its values (empty: anything), whether it takes a value, and one line about it."""

    names: list[str]
    values: list[str]
    takes_value: bool
    help: str


class Command(NamedTuple):
    """A command: its name, one line about it, its options, and the values of its first argument."""

    name: str
    help: str
    options: list[Option]
    values: list[str]


def _completion(parsed: argparse.Namespace) -> int:
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[parsed.shell]
    print("\n".join(script(_commands())))
    return 0


def _commands() -> list[Command]:
    """Return the commands, with what can be completed after them."""
    from .. import models
    from . import make_parser

    parser = make_parser()
    subparsers = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    about = {choice.dest: choice.help or "" for choice in subparsers._choices_actions}
    commands = []
    for name, sub in subparsers.choices.items():
        options, values = [], []
        for action in sub._actions:
            choices = [str(choice) for choice in action.choices or ()]
            if action.option_strings:
                text = (action.help or "").partition(" (default")[0].partition(";")[0]
                takes = action.nargs != 0
                options.append(Option(list(action.option_strings), choices, takes, text))
            elif action.dest == "program":
                values = models.names()
            else:
                values += choices
        commands.append(Command(name, about.get(name, ""), options, values))
    return commands


def _bash(commands: list[Command]) -> Iterator[str]:
    yield "_relay_explorer() {"
    yield '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"'
    yield '    if [ "$COMP_CWORD" -eq 1 ]; then'
    names = " ".join(command.name for command in commands)
    yield f'        COMPREPLY=($(compgen -W "{names} --version --help" -- "$word"))'
    yield "        return"
    yield "    fi"
    yield '    case "${COMP_WORDS[1]} $before" in'
    for command in commands:
        for option in command.options:
            if option.values:
                patterns = "|".join(f'"{command.name} {name}"' for name in option.names)
                words = " ".join(option.values)
                yield f'        {patterns}) COMPREPLY=($(compgen -W "{words}" -- "$word")); return;;'
    yield "    esac"
    yield '    case "${COMP_WORDS[1]}" in'
    for command in commands:
        flags = " ".join(name for option in command.options for name in option.names)
        yield f"        {command.name})"
        yield '            case "$word" in'
        yield f'                -*) COMPREPLY=($(compgen -W "{flags}" -- "$word"));;'
        words = f' $(compgen -W "{" ".join(command.values)}" -- "$word")' if command.values else ""
        yield f'                *) COMPREPLY=($(compgen -f -- "$word"){words});;'
        yield "            esac;;"
    yield "    esac"
    yield "}"
    yield "complete -o filenames -F _relay_explorer relay-explorer"


def _zsh(commands: list[Command]) -> Iterator[str]:
    yield "#compdef relay-explorer"
    yield "_relay_explorer() {"
    yield "    local -a commands"
    yield "    commands=("
    for command in commands:
        yield f"        {_quoted(f'{command.name}:{command.help}')}"
    yield "    )"
    yield "    if (( CURRENT == 2 )); then"
    yield "        _describe command commands"
    yield "        return"
    yield "    fi"
    yield '    case "$words[2]" in'
    for command in commands:
        yield f"        {command.name})"
        yield "            _arguments \\"
        for option in command.options:
            value = ""
            if option.takes_value:
                value = f":value:({' '.join(option.values)})" if option.values else ":value:_files"
            text = option.help.replace("[", "(").replace("]", ")").replace(":", ",")
            for name in option.names:
                yield f"                {_quoted(f'{name}[{text}]{value}')} \\"
        yield f"                {_zsh_rest(command.values)};;"
    yield "    esac"
    yield "}"
    yield "compdef _relay_explorer relay-explorer"


def _zsh_rest(values: list[str]) -> str:
    """Return the specification of the other arguments: files, and the given values."""
    if not values:
        return _quoted("*:file:_files")
    inner = f'_alternative "files:file:_files" "names:name:({" ".join(values)})"'
    return _quoted(f"*: :{{{inner}}}")


def _fish(commands: list[Command]) -> Iterator[str]:
    names = " ".join(command.name for command in commands)
    for command in commands:
        yield (
            f"complete -c relay-explorer -n 'not __fish_seen_subcommand_from {names}' -f "
            f"-a {command.name} -d {_quoted(command.help)}"
        )
    for command in commands:
        here = f"complete -c relay-explorer -n '__fish_seen_subcommand_from {command.name}'"
        if command.values:
            yield f"{here} -a {_quoted(' '.join(command.values))}"
        for option in command.options:
            parts = [f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names]
            if option.values:
                parts.append(f"-x -a {_quoted(' '.join(option.values))}")
            elif option.takes_value:
                parts.append("-r")
            yield f"{here} {' '.join(parts)} -d {_quoted(option.help)}"


def _quoted(text: str) -> str:
    """Return a text in single quotes, for a shell."""
    escaped = text.replace("'", "'\\''")
    return f"'{escaped}'"
