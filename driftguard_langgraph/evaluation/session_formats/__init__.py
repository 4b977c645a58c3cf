"""Recorded conversations as turns: one module a way of writing them down."""
