"""The program ``everlevel``, also as ``python -m everlevel``."""

from __future__ import annotations

import signal
import sys

from . import _everlevel as _rust


def main() -> None:
    """Runs the program with the arguments of the process, and exits with its status."""
    # The program ends at Ctrl-C by itself; Python would only note the signal until it is over.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_rust.program(["everlevel", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
