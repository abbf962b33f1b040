"""What people and programs see. Draws values that it is given: asks no server, reads no file,
keeps no state.
"""
