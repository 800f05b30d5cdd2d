"""The memory that a program took: this program alone, without the one that started it."""

import contextlib
import resource
from pathlib import Path

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
KIBIBYTES = 1024  # in a mebibyte


def peak():
    """Largest memory so far, in mebibytes."""
    with contextlib.suppress(OSError, StopIteration):
        line = next(line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / KIBIBYTES
    # Elsewhere than on Linux, where this would count the program that was forked to start this one.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KIBIBYTES


def reset_peak():
    """Let the peak begin anew, where the system can."""
    with contextlib.suppress(OSError):
        _RESET.write_text("5")
