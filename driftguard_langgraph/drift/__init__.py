"""Drift: how far a session has moved from what it was told, why, and whether that is an attack."""
