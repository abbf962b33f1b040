"""What people and programs see. Draws what it is given: asks no server, reads no file, keeps no state."""
