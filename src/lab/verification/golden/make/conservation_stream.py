"""A memory that records enter and leave. After each operation: magnitude, energy (with the factor 1/2), coherence = 2 energy, information in nats and in
bits, of the records held then, with salience normalised to sum 1; null where no record has salience. A zero embedding has no direction. Sums are exact to
the last bit (math.fsum)."""

import math

from stream import Stream


def measure(held: dict) -> dict | None:
    count = len(held)
    if count == 0:
        return {"count": 0, "magnitude": 0, "energy": 0, "coherence": 0, "information": 0, "informationBits": 0}
    total = math.fsum(salience for _, salience in held.values())
    if total == 0:
        return None
    shares = [(embedding, salience / total) for embedding, salience in held.values()]
    lengths = [math.sqrt(math.fsum(x * x for x in embedding)) for embedding, _ in shares]
    directions = [
        [share * x / length for x in embedding]
        for (embedding, share), length in zip(shares, lengths)
        if length > 0
    ]
    mean = [math.fsum(column) for column in zip(*directions)]
    coherence = math.fsum(x * x for x in mean)
    information = -math.fsum(share * math.log(share) for _, share in shares if share > 0)
    return {
        "count": count,
        "magnitude": math.fsum(share * length for (_, share), length in zip(shares, lengths)),
        "energy": coherence / 2,
        "coherence": coherence,
        "information": abs(information),
        "informationBits": abs(information) / math.log(2),
    }


def run(name: str, dimension: int, operations: list) -> dict:
    held: dict = {}
    after = []
    for operation in operations:
        if "remove" in operation:
            del held[operation["remove"]]
        else:
            held[operation["add"]] = (operation["embedding"], operation["salience"])
        after.append(measure(held))
    return {"name": name, "dimension": dimension, "operations": operations, "expected": after}


def draw(count: int, dimension: int, orders: float) -> list:
    stream = Stream(count, "conservation-stream.golden")
    operations: list = []
    ids: list = []
    for number in range(count):
        if ids and stream.uniform() < 0.45:
            operations.append({"remove": ids.pop(stream.integer(len(ids)))})
            continue
        embedding = [0.0] * dimension if number % 13 == 5 else [stream.normal() for _ in range(dimension)]
        salience = 0.0 if number % 11 == 7 else 10 ** (orders * (stream.uniform() - 0.5))
        ids.append(f"r{number}")
        operations.append({"add": ids[-1], "embedding": embedding, "salience": salience})
    return operations


def make_cases():
    yield run("a record that leaves takes its share along", 2, [
        {"add": "a", "embedding": [3.0, 4.0], "salience": 2.0},
        {"add": "b", "embedding": [0.0, -1.0], "salience": 1.0},
        {"add": "c", "embedding": [0.0, 0.0], "salience": 3.0},
        {"remove": "a"},
        {"add": "a", "embedding": [-6.0, 8.0], "salience": 0.5},
        {"remove": "c"},
        {"remove": "b"},
        {"remove": "a"},
    ])
    yield run("records without salience are held and carry no weight", 3, [
        {"add": "mute", "embedding": [1.0, 2.0, 2.0], "salience": 0.0},
        {"add": "heard", "embedding": [0.0, 0.0, 2.0], "salience": 7.0},
        {"add": "also", "embedding": [0.0, 5.0, 0.0], "salience": 7.0},
        {"remove": "heard"},
        {"remove": "also"},
    ])
    yield run("41 operations, saliences of one order of magnitude", 5, draw(41, 5, 1))
    yield run("97 operations, saliences of twelve orders of magnitude", 3, draw(97, 3, 12))
