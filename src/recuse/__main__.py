"""The ``recuse`` command, also ``python -m recuse``; without the packages it needs, one line says how to get them."""

import sys


def main() -> None:
    """Run the command line."""
    from .extras import require

    try:
        require("typer", "The recuse command")
    except ModuleNotFoundError as error:
        sys.exit(f"recuse: {error}")
    from .cli import main as run

    run()


if __name__ == "__main__":
    main()
