"""Does works as bench/peers.ts asks: a line of JSON for a line of JSON.

{"work": NAME} does a work and answers {"seconds": of the processor, "wallSeconds": .., "peakBytes": of the process
during the work}; a short work is repeated, the first run has the peak and the last the times. {"keep": PATH} writes the numbers of the last result to a file, float64 and little endian.
"""

import array
import gc
import json
import os
import pathlib
import resource
import sys
import time


# As in bench/peers/serve-works.ts.
STEADY_SECONDS = 1


def reset_peak():
    try:
        pathlib.Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass  # not Linux, or not allowed


def read_peak():
    try:
        status = pathlib.Path("/proc/self/status").read_text()
        return 1024 * int(status.split("VmHWM:")[1].split()[0])
    except (OSError, IndexError):
        return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def write_numbers(path, values):
    if hasattr(values, "astype"):
        values.astype("<f8").tofile(path)
    else:
        pathlib.Path(path).write_bytes(array.array("d", values).tobytes())


def serve(works):
    """works has a function for each work; it returns a function that gives the numbers of the result."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what packages print is no answer
    give_result = None
    for line in sys.stdin:
        question = json.loads(line)
        answer = {}
        if "keep" in question:
            write_numbers(question["keep"], give_result())
        else:
            give_result = None
            gc.collect()
            reset_peak()
            peak, spent, spent_wall = None, 0, 0
            while spent < STEADY_SECONDS and spent_wall < 2 * STEADY_SECONDS:
                start, start_wall = time.process_time(), time.perf_counter()
                give_result = works[question["work"]]()
                seconds, wall = time.process_time() - start, time.perf_counter() - start_wall
                peak = peak or read_peak()
                spent, spent_wall = spent + seconds, spent_wall + wall
            answer = {"seconds": seconds, "wallSeconds": wall, "peakBytes": peak}
        print(json.dumps(answer), file=answers, flush=True)
