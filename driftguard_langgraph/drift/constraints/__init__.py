"""The constraint ledger: what goes against a rule, a limit or a definition of the baseline."""
