"""``python -m trailhound`` is ``trailhound``."""

from trailhound.cli.main import run

if __name__ == "__main__":
    run()
