"""Pressure: what works against the baseline in the words of users, tools and assistants."""
