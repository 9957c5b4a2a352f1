"""Executes a notebook: execute.py INPUT OUTPUT FOLDER SECONDS_PER_CELL.

Deno's kernel sends the value of a cell at times after the message that the cell is finished. nbclient stops listening at that
message, so the value would be lost. This script listens on for a moment after each cell. A cell of its own, which is removed,
warms the kernel up before the first one. The last line of standard output is JSON: the cells whose output came late.
"""

import json
import sys
from queue import Empty

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionComplete, CellExecutionError, CellTimeoutError, DeadKernelError
from nbclient.util import ensure_async

# Seconds without a message after which no further output is expected: of a cell without output, and of one that has some.
PATIENCE_EMPTY = 1.5
PATIENCE = 0.2

source, target, folder, seconds = sys.argv[1:]
notebook = nbformat.read(source, as_version=4)
notebook.cells.insert(0, nbformat.v4.new_code_cell("'warm'"))
late = []


async def collect_late_output(cell, cell_index, execute_reply):
    """Reads the messages of a finished cell that are still on their way."""
    parent = execute_reply['parent_header']['msg_id']
    before = len(cell.outputs)
    while True:
        try:
            timeout = PATIENCE if cell.outputs else PATIENCE_EMPTY
            message = await ensure_async(client.kc.iopub_channel.get_msg(timeout=timeout))
        except Empty:
            break
        if message['parent_header'].get('msg_id') != parent:
            continue
        try:
            client.process_message(message, cell, cell_index)
        except CellExecutionComplete:
            continue
    if len(cell.outputs) > before and cell_index > 0:
        late.append(cell_index - 1)


client = NotebookClient(
    notebook,
    timeout=int(seconds),
    startup_timeout=60,
    kernel_name='deno',
    record_timing=False,
    store_widget_state=False,
    shutdown_kernel='immediate',
    on_cell_executed=collect_late_output,
    resources={'metadata': {'path': folder}},
)
try:
    client.execute()
except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
    sys.exit(str(error))
warm = notebook.cells.pop(0)
if not warm.outputs:
    sys.stderr.write('the kernel sent no value of the warm-up cell\n')
nbformat.write(notebook, target)
print(json.dumps({'late': late}))
