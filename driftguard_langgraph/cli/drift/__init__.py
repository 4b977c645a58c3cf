"""The commands `driftguard drift ...`."""
