"""The ways to a server: one module a transport, each with the interface of `base.Transport`."""
