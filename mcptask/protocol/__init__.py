"""The protocol core: usable without the command line, prints nothing, reads no file."""
