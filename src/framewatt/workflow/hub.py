"""Checks that the registry of a base image is reachable before an image is built on it."""

import re
from collections.abc import Sequence
from pathlib import Path

from framewatt.base.errors import FramewattError
from framewatt.environments.images import BOOTSTRAP

_DOCKER_HUB = "registry-1.docker.io"
_TIMEOUT_S = 10
_SETTINGS = (Path("/etc/containers/registries.conf"), Path.home() / ".config/containers/registries.conf")
_ELSEWHERE = re.compile(r"^\s*(\[\[registry|location|mirror|prefix)", re.MULTILINE)


def check_hub(base: str, settings: Sequence[Path] = _SETTINGS) -> None:
    """Make sure that the registry of a base image is reachable.

    Any answer will do, since Apptainer makes the proper request. The check is skipped where a mirror is configured.

    Args:
        base: `container_base` of the configuration.
        settings: files in which Apptainer looks for mirrors of registries.

    Raises:
        FramewattError: it does not answer.
    """
    if base == BOOTSTRAP or base.endswith(".sif"):
        return
    if any(_ELSEWHERE.search(path.read_text(errors="replace")) for path in settings if path.is_file()):
        return
    # Not imported at the top, since it would delay every start of the workflow.
    import requests

    first, slash, _ = base.partition("/")
    hub = first if slash and (re.search(r"[.:]", first) or first == "localhost") else _DOCKER_HUB
    try:
        requests.get(f"https://{hub}/v2/", timeout=_TIMEOUT_S, allow_redirects=False)
    except requests.exceptions.SSLError:
        # Somebody is there, and Apptainer may have been told to take them as they are.
        return
    except requests.RequestException as error:
        raise FramewattError(
            f"container_base: found {base}, whose hub {hub} does not answer ({type(error).__name__}); allowed: "
            f"--config container_base={BOOTSTRAP} (a Debian from this machine's own package mirror), a .sif with "
            "Python 3.11, or a network"
        ) from error
