"""Golden cases that this folder computes, with Python's standard library alone and no code of the project.

python3 src/lab/verification/golden/make [FOLDER]    writes them into FOLDER, by default the folder above
"""

import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import bert
import conservation_stream
import propagation_as_of
import resampling
import signatures

TOPICS = {
    "bert": bert,
    "conservation-stream": conservation_stream,
    "propagation-as-of": propagation_as_of,
    "resampling": resampling,
    "signatures": signatures,
}


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent
    for topic, module in TOPICS.items():
        golden = {"topic": topic, "note": " ".join(module.__doc__.split()), "cases": list(module.make_cases())}
        (folder / f"{topic}.json").write_text(json.dumps(golden, indent=1) + "\n", encoding="utf-8")


main()
