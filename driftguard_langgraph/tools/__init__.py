"""Tools that an agent is given, to use the memory on its own account."""
