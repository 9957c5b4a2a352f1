"""Acknowledged writes of SQLite, WAL with synchronous=FULL.

Usage: sqlite_writes.py TASK. TASK is JSON: folder, writers (a list), seconds, bytes. For each number of writers, so many
threads insert rows of that many bytes into a new table until the time is over. A thread has a connection of its own, and
each row is a transaction, which SQLite syncs before it returns. sqlite3 releases Python's lock during a statement.
"""

import json
import os
import pathlib
import sqlite3
import statistics
import sys
import threading
import time


def connect(path):
    connection = sqlite3.connect(path, timeout=60, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    return connection


def write_until(path, writer, payload, end, times):
    connection = connect(path)
    number = 0
    while time.perf_counter() < end:
        start = time.perf_counter()
        connection.execute("INSERT INTO records VALUES (?, ?)", (f"{writer}-{number}", payload))
        times.append(1000 * (time.perf_counter() - start))
        number += 1
    connection.close()


def measure(folder, writers, seconds, payload):
    path = folder / f"{writers}.db"
    connect(path).execute("CREATE TABLE records (id TEXT PRIMARY KEY, record BLOB)")
    times = [[] for _ in range(writers)]
    start = time.perf_counter()
    threads = [
        threading.Thread(target=write_until, args=(path, i, payload, start + seconds, times[i])) for i in range(writers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    elapsed = time.perf_counter() - start
    every = sorted(value for of_writer in times for value in of_writer)
    p99 = every[max(0, -(-99 * len(every) // 100) - 1)]
    return {"writers": writers, "rate": len(every) / elapsed, "p50": statistics.median(every), "p99": p99}


def main(task):
    folder = pathlib.Path(task["folder"])
    payload = os.urandom(task["bytes"])
    rows = [measure(folder, writers, task["seconds"], payload) for writers in task["writers"]]
    print(json.dumps({"version": sqlite3.sqlite_version, "rows": rows}))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
