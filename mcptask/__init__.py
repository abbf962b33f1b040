"""mcptask drives and inspects MCP tasks. Importing the package costs nothing: it holds the version only."""

__version__ = "0.1.0"
