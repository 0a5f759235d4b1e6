"""The program ``typecase``: finds the command, runs it, and turns what stops it into one line and an exit code.

0: fine; 1: it couldn't start; 2: the command line can't be parsed; 130: interrupted.
"""

from __future__ import annotations

__all__ = ["main"]

import sys
from collections.abc import Sequence

from typecase.cli.failure import StartError
from typecase.cli.help import LAUNCH, PROGRAM


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; ``argv`` is without the program's name."""
    args = list(sys.argv[1:] if argv is None else argv)
    try:
        return _run(args)
    except StartError as error:
        from typecase.api.printable import printable

        print(f"typecase: error: {printable(str(error))}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _run(args: list[str]) -> int:
    match args:
        case [] | ["-h" | "--help", *_]:
            print(PROGRAM, end="")
        case ["-v" | "--version", *_]:
            from importlib.metadata import version

            print(f"typecase {version('typecase')}")
        case ["launch", "render", *rest]:
            return _command("launch render", rest)
        case ["serve", *rest]:
            return _command("serve", rest)
        case ["launch", "-h" | "--help", *_]:
            print(LAUNCH, end="")
        case ["launch"]:
            return _usage("typecase launch", LAUNCH, "the following arguments are required: launch_component")
        case ["launch", word, *_]:
            return _usage(
                "typecase launch", LAUNCH, f"argument launch_component: invalid choice: {word!r} (choose from 'render')"
            )
        case [word, *_] if word.startswith("-"):
            return _usage("typecase", PROGRAM, f"unrecognized arguments: {word}")
        case [word, *_]:
            return _usage(
                "typecase", PROGRAM, f"argument command: invalid choice: {word!r} (choose from 'launch', 'serve')"
            )
    return 0


def _command(name: str, args: list[str]) -> int:
    from typecase.cli.command import Command
    from typecase.cli.parser import UsageError

    try:
        arguments, notes = Command(name).parse(args)
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
    if name == "serve":
        raise StartError("typecase serve isn't built yet; `typecase launch render MODEL` starts the render server")
    from typecase.cli.launch import launch

    return launch(arguments, notes)


def _usage(prog: str, page: str, message: str) -> int:
    from typecase.api.printable import printable

    print(f"{page.splitlines()[0]}\n{prog}: error: {printable(message)}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
