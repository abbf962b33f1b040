"""What outlives a command: the state file, the outcomes of ended tasks, the cached tool lists.

Prints nothing and talks to no server. No OSError and no TOML error leaves this package.
"""
