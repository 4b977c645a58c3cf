"""Recorded text made safe to show, and the shell of a page that needs no network."""
