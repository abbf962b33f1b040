"""Where a task lives: what is stored of a server, so that a later command finds it again.

Below both `store`, which keeps it, and `servers`, which makes an endpoint of it.
"""

from dataclasses import dataclass

from mcptask.protocol.transports.redact import MASK, bare_url, masked


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A configured server's name, or a URL or a command that was given by hand. Never a secret.

    A URL has neither user nor query, what looks like a secret in a command is `***`, and `bearer_env`
    names the variable that held the token.
    """

    server: str | None = None
    url: str | None = None
    command: tuple[str, ...] = ()
    cwd: str | None = None
    bearer_env: str | None = None

    def __post_init__(self) -> None:
        # Here, and not where records are made, so that no path leads a secret into the file.
        if self.url is not None:
            object.__setattr__(self, "url", bare_url(self.url))
        object.__setattr__(self, "command", masked(self.command))

    @property
    def place(self) -> tuple[str | None, str | None, tuple[str, ...], str | None]:
        """What makes two origins the same server: how to log in there does not count."""
        return (self.server, self.url, self.command, self.cwd)

    @property
    def lacks_secret(self) -> bool:
        """Was something in the command masked? Then it cannot be run again as it stands here."""
        return any(MASK in word for word in self.command)
