"""`python -m driftguard_langgraph.cli`."""

from __future__ import annotations

from driftguard_langgraph.cli.app import main

if __name__ == "__main__":
    main()
