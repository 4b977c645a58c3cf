"""The command `driftguard`: the memory, the demo and the backtest from a terminal."""
