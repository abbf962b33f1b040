"""The demo server: a small MCP server of revision 2026-07-28 with the Tasks extension.

It shares no code with the client it is a test of: only the version string of the package.
"""
