"""Which certificates are believed: those of a file, those that the environment names, or the usual ones.

`ssl` and the bundle of CAs are imported and read only for https. A message names a file, never what is in it.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcptask.errors import ConfigError

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable


@dataclass(frozen=True)
class Trust:
    """`ca_cert`: the file of the only CAs that may vouch, instead of all others. `insecure`: nobody need."""

    ca_cert: str | None = None
    insecure: bool = False


def context(
    trust: Trust, environ: Mapping[str, str], usual: "Callable[[], ssl.SSLContext]"
) -> "ssl.SSLContext":
    """`usual` makes one that believes the CAs that everybody does.

    Raises ConfigError, which names the option or the variable, for what cannot be used.
    """
    import ssl

    if trust.insecure:
        unchecked = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        unchecked.check_hostname = False
        unchecked.verify_mode = ssl.CERT_NONE
        return unchecked
    name, file, folder = _vouching(trust, environ)
    _check_there(name, file, folder)
    try:
        return ssl.create_default_context(cafile=file, capath=folder) if file or folder else usual()
    except ssl.SSLError as exc:
        raise ConfigError(
            f"{name}: {file} holds no certificate in PEM form", hint=_hint(name)
        ) from exc
    except (OSError, ValueError) as exc:  # Python itself obeys this variable
        raise ConfigError(
            "SSLKEYLOGFILE names a file that cannot be written: "
            f"{getattr(exc, 'strerror', None) or 'not a path'}",
            hint="unset SSLKEYLOGFILE",
        ) from exc


def _vouching(trust: Trust, environ: Mapping[str, str]) -> tuple[str, str | None, str | None]:
    """Who names the CAs, and the file or the folder that holds them."""
    if trust.ca_cert is not None:
        return "--ca-cert or ca_cert", trust.ca_cert, None
    if file := environ.get("SSL_CERT_FILE"):
        return "SSL_CERT_FILE", file, None
    if folder := environ.get("SSL_CERT_DIR"):
        return "SSL_CERT_DIR", None, folder
    return "", None, None


def _check_there(name: str, file: str | None, folder: str | None) -> None:
    """Here, because OpenSSL takes a folder that is not there, and then accepts nobody."""
    if folder is not None and not any(map(os.path.isdir, folder.split(os.pathsep))):
        raise ConfigError(f"{name}: there is no folder {folder}", hint=_hint(name))
    if file is None:
        return
    try:
        with open(file, "rb"):
            pass
    except (OSError, ValueError) as exc:
        why = getattr(exc, "strerror", None) or "not a path"
        raise ConfigError(f"{name}: {file} cannot be read: {why}", hint=_hint(name)) from exc


def _hint(name: str) -> str | None:
    return f"correct or unset {name}" if name.isupper() else None
