"""`driftguard demo`: the main job, shown and checked end to end."""
