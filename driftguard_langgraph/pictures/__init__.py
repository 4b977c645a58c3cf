"""Pictures of a memory, of a session's drift, and of a calibration; needs the extra `plot`."""
