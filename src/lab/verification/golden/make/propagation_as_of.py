"""Propagated embeddings as of moments. A moment is a cutoff: the first `cutoff` turns of the corpus exist, each conversation being a ring (or line) of its own
existing turns in the order of time. vector = normalise((1 - beta) e + beta sum_j softmax(logit)_j e_j), logit = (1 + cos) / 2 exp(-decay d) / temperature
(multiplicative) or (1 + cos) / 2 / temperature - decay d (additive); a turn without an admissible key keeps (1 - beta) e, normalised. Expected: by cutoff, the
vector of each existing turn, in corpus order."""

import itertools
import math

from stream import Stream


def dot(a: list, b: list) -> float:
    return math.fsum(x * y for x, y in zip(a, b))


def normalise(vector: list) -> list:
    length = math.sqrt(dot(vector, vector))
    return [x / length if length > 0 else 0.0 for x in vector]


def attend(turns: list, own: int, options: dict) -> list:
    """Attention output of one turn over the turns of its conversation that exist."""
    logits = {}
    for other, key in enumerate(turns):
        if options["direction"] == "causal" and other > own or options["direction"] == "anticausal" and other < own:
            continue
        if options["self"] == "exclude" and other == own:
            continue
        steps = abs(own - other)
        distance = min(steps, len(turns) - steps) if options["topology"] == "ring" else steps
        semantic = (1 + dot(normalise(turns[own]), normalise(key))) / 2
        if options["combine"] == "multiplicative":
            logits[other] = semantic * math.exp(-options["decay"] * distance) / options["temperature"]
        else:
            logits[other] = semantic / options["temperature"] - options["decay"] * distance
    if not logits:
        return [0.0] * len(turns[own])
    largest = max(logits.values())
    weights = {other: math.exp(logit - largest) for other, logit in logits.items()}
    total = math.fsum(weights.values())
    return [
        math.fsum(weights[other] / total * turns[other][d] for other in weights) for d in range(len(turns[own]))
    ]


def propagate(conversations: list, embeddings: list, cutoff: int, options: dict) -> list:
    vectors = []
    for position in range(cutoff):
        members = [other for other in range(cutoff) if conversations[other] == conversations[position]]
        turns = [embeddings[other] for other in members]
        output = attend(turns, members.index(position), options)
        beta = options["beta"]
        vectors.append(normalise([(1 - beta) * e + beta * o for e, o in zip(embeddings[position], output)]))
    return vectors


def make_cases():
    size, dimension = 17, 5
    stream = Stream(7, "propagation.golden")
    conversations = ["abc"[stream.integer(3)] for _ in range(size)]
    embeddings = [normalise([stream.normal() for _ in range(dimension)]) for _ in range(size)]
    cutoffs = [1, 4, 9, 13, 17]
    choices = itertools.product(
        ["ring", "line"], ["none", "causal", "anticausal"], ["multiplicative", "additive"], ["include", "exclude"]
    )
    for topology, direction, combine, own in choices:
        options = {
            "topology": topology,
            "direction": direction,
            "combine": combine,
            "self": own,
            "decay": 0.7,
            "temperature": 0.4,
            "beta": 0.45,
        }
        yield {
            "name": f"{topology}, {direction}, {combine}, self {own}",
            "conversations": conversations,
            "embeddings": embeddings,
            "cutoffs": cutoffs,
            "options": options,
            "expected": {str(cutoff): propagate(conversations, embeddings, cutoff, options) for cutoff in cutoffs},
        }
