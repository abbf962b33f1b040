"""Whoever answers what a server asks: a file, a command, a form's own defaults, a person at the terminal."""
