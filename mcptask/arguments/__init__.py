"""What people type for a tool or a form, as the values to send. Pure: no screen, no state, no server."""
