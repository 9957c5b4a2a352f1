"""The last layer's vectors of the pieces of a text, by a BERT with random weights: embeddings of pieces, positions and the first segment, attention by head,
gelu with erf, layer norms with the population variance. Weights are [outputs, inputs], by the names of Hugging Face. Sums are exact to the last bit (math.fsum)."""

import math

from stream import Stream

EPSILON = 1e-12


def product(a: list, b: list) -> float:
    return math.fsum(x * y for x, y in zip(a, b))


class Bert:
    def __init__(self, sizes: dict, arrays: dict) -> None:
        self.sizes = sizes
        self.arrays = arrays

    def rows(self, name: str) -> list:
        shape, data = self.arrays[name]["shape"], self.arrays[name]["data"]
        return [data[row * shape[1] : (row + 1) * shape[1]] for row in range(shape[0])]

    def linear(self, x: list, name: str) -> list:
        bias = self.arrays[f"{name}.bias"]["data"]
        return [product(row, x) + shift for row, shift in zip(self.rows(f"{name}.weight"), bias)]

    def norm(self, x: list, name: str) -> list:
        mean = math.fsum(x) / len(x)
        variance = math.fsum((value - mean) ** 2 for value in x) / len(x)
        scale, shift = self.arrays[f"{name}.weight"]["data"], self.arrays[f"{name}.bias"]["data"]
        deviation = math.sqrt(variance + EPSILON)
        return [(value - mean) / deviation * a + b for value, a, b in zip(x, scale, shift)]

    def attend(self, rows: list, name: str) -> list:
        query, key, value = ([self.linear(row, f"{name}.self.{part}") for row in rows] for part in ("query", "key", "value"))
        size = self.sizes["hidden_size"] // self.sizes["num_attention_heads"]
        mixed = []
        for t in range(len(rows)):
            row: list = []
            for head in range(0, self.sizes["hidden_size"], size):
                logits = [product(query[t][head : head + size], k[head : head + size]) / math.sqrt(size) for k in key]
                powers = [math.exp(logit - max(logits)) for logit in logits]
                shares = [power / math.fsum(powers) for power in powers]
                row += [product(shares, [v[d] for v in value]) for d in range(head, head + size)]
            mixed.append(self.linear(row, f"{name}.output.dense"))
        return mixed

    def run(self, ids: list) -> list:
        words = self.rows("embeddings.word_embeddings.weight")
        positions = self.rows("embeddings.position_embeddings.weight")
        segment = self.rows("embeddings.token_type_embeddings.weight")[0]
        rows = [
            self.norm([a + b + c for a, b, c in zip(words[i], positions[t], segment)], "embeddings.LayerNorm")
            for t, i in enumerate(ids)
        ]
        for layer in range(self.sizes["num_hidden_layers"]):
            at = f"encoder.layer.{layer}"
            attended = self.attend(rows, f"{at}.attention")
            first = [
                self.norm([a + b for a, b in zip(x, row)], f"{at}.attention.output.LayerNorm")
                for x, row in zip(attended, rows)
            ]
            rows = []
            for row in first:
                inner = [x * (1 + math.erf(x / math.sqrt(2))) / 2 for x in self.linear(row, f"{at}.intermediate.dense")]
                outer = self.linear(inner, f"{at}.output.dense")
                rows.append(self.norm([a + b for a, b in zip(outer, row)], f"{at}.output.LayerNorm"))
        return rows


def draw_arrays(stream: Stream, sizes: dict) -> dict:
    width, inner = sizes["hidden_size"], sizes["intermediate_size"]
    arrays: dict = {}

    def draw(name: str, *shape: int, around: float = 0) -> None:
        data = [round(around + 1.6 * stream.uniform() - 0.8, 6) for _ in range(math.prod(shape))]
        arrays[name] = {"shape": list(shape), "data": data}

    def draw_norm(name: str) -> None:
        draw(f"{name}.weight", width, around=1)
        draw(f"{name}.bias", width)

    def draw_linear(name: str, inputs: int, outputs: int) -> None:
        draw(f"{name}.weight", outputs, inputs)
        draw(f"{name}.bias", outputs)

    draw("embeddings.word_embeddings.weight", sizes["vocab_size"], width)
    draw("embeddings.position_embeddings.weight", sizes["max_position_embeddings"], width)
    draw("embeddings.token_type_embeddings.weight", 2, width)
    draw_norm("embeddings.LayerNorm")
    for layer in range(sizes["num_hidden_layers"]):
        at = f"encoder.layer.{layer}"
        for part in ("query", "key", "value"):
            draw_linear(f"{at}.attention.self.{part}", width, width)
        draw_linear(f"{at}.attention.output.dense", width, width)
        draw_norm(f"{at}.attention.output.LayerNorm")
        draw_linear(f"{at}.intermediate.dense", width, inner)
        draw_linear(f"{at}.output.dense", inner, width)
        draw_norm(f"{at}.output.LayerNorm")
    return arrays


def make_cases():
    stream = Stream(1, "bert.golden")
    for layers, heads, width, texts in ((1, 1, 4, [[3]]), (2, 3, 6, [[1, 4, 4, 0, 6], [5, 2, 3, 3, 1]])):
        sizes = {
            "hidden_size": width,
            "num_hidden_layers": layers,
            "num_attention_heads": heads,
            "intermediate_size": width + 3,
            "max_position_embeddings": 5,
            "vocab_size": 7,
            "layer_norm_eps": EPSILON,
        }
        arrays = draw_arrays(stream, sizes)
        bert = Bert(sizes, arrays)
        yield {
            "name": f"{layers} layers, {heads} heads, {len(texts)} texts",
            "sizes": sizes,
            "arrays": arrays,
            "ids": texts,
            "expected": {"vectors": [bert.run(ids) for ids in texts]},
        }
