"""`python -m lowtide_service.healthcheck`: exit status 0 when the server is ready, 1 when not."""

from __future__ import annotations

import http.client
import sys

from lowtide_service.settings import Settings

_SECONDS = 3.0
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def check(settings: Settings) -> str | None:
    """What is wrong with the server, or None when it is ready."""
    host = _EVERYWHERE.get(settings.host, settings.host)
    connection = http.client.HTTPConnection(host, settings.port, timeout=_SECONDS)
    try:
        connection.request("GET", "/readyz")
        status = connection.getresponse().status
    except OSError as error:
        return str(error)
    finally:
        connection.close()
    return None if status == http.client.OK else f"/readyz answers {status}"


if __name__ == "__main__":
    sys.exit(check(Settings()))
