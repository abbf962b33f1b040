"""Which server a command talks to: the config file, the order of precedence, the credentials."""
