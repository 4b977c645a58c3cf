"""The memory as a server of the Model Context Protocol: `driftguard mcp`."""
