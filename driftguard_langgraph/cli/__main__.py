"""Where the program begins: `driftguard`, and `python -m driftguard_langgraph.cli`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit the process; Ctrl-C is heard while it is loaded as well.

    Raises:
        SystemExit: Always, with the exit code.
    """
    try:
        from driftguard_langgraph.cli.app import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
