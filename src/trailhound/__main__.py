"""The command ``trailhound``, and ``python -m trailhound``."""

import sys


def run() -> None:
    """Ctrl-C is heard also while the command line is still being imported, which takes a while."""
    try:
        from trailhound.cli.main import run as run_command

        run_command()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    run()
