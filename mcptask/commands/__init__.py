"""The commands: one thin module each. Options in, calls down, an `Answer` out; none of them prints."""
