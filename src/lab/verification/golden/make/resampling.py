"""Statistics over clustered values. clustered: the mean over values, its cluster-robust error sqrt(G / (G - 1) sum of squared cluster residuals) / Q, and the
two-sided p and interval of Student's t with G - 1 degrees of freedom. signFlip: all sign vectors of the clusters whose sum is not 0, up to 12 of them, else
`samples` drawn from stream "sign-flip-permutation" of the seed, a bit a cluster (1 is plus), p = (1 + hits) / (1 + samples) and not below 2^(1 - clusters). bca:
bias-corrected and accelerated intervals (Efron 1987) of `samples` resamples from stream "bootstrap-interval", G draws of a cluster each; means equal to the
observed one count half; quantiles interpolate linearly. Sums that differ by 1e-12 of the largest possible one are equal."""

import math
from statistics import NormalDist

from stream import Stream

NORMAL = NormalDist()


def beta_fraction(a: float, b: float, x: float) -> float:
    """Continued fraction of the incomplete beta function, by the modified method of Lentz."""
    tiny = 1e-300
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1) or tiny)
    result = d
    for m in range(1, 10_000):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + step * d or tiny)
            c = 1 + step / c or tiny
            result *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return result


def incomplete_beta(a: float, b: float, x: float) -> float:
    if x <= 0 or x >= 1:
        return min(max(x, 0.0), 1.0)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    if x < (a + 1) / (a + b + 2):
        return front * beta_fraction(a, b, x) / a
    return 1 - front * beta_fraction(b, a, 1 - x) / b


def two_sided_t(t: float, freedom: int) -> float:
    return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))


def t_quantile(share: float, freedom: int) -> float:
    low, high = 0.0, 1e9
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if two_sided_t(middle, freedom) > 2 * (1 - share) else (low, middle)
    return (low + high) / 2


def sum_clusters(values: list, labels: list) -> tuple[list, list]:
    order = list(dict.fromkeys(labels))
    sums = [math.fsum(v for v, label in zip(values, labels) if label == name) for name in order]
    return sums, [labels.count(name) for name in order]


def clustered(values: list, labels: list, level: float) -> dict:
    sums, sizes = sum_clusters(values, labels)
    groups, total = len(sums), len(values)
    mean = math.fsum(values) / total
    squares = math.fsum((s - size * mean) ** 2 for s, size in zip(sums, sizes))
    error = math.sqrt(squares * groups / (groups - 1)) / total
    reach = t_quantile((1 + level) / 2, groups - 1) * error
    return {"mean": mean, "error": error, "p": two_sided_t(mean / error, groups - 1), "interval": [mean - reach, mean + reach]}


def sign_flip(values: list, labels: list, seed: int, samples: int) -> dict:
    sums, _ = sum_clusters(values, labels)
    threshold = abs(math.fsum(sums)) - 1e-12 * math.fsum(abs(s) for s in sums)
    differing = [s for s in sums if s != 0]
    if len(differing) <= 12:
        hits = 0
        for bits in range(1 << len(differing)):
            hits += abs(math.fsum(s if bits >> i & 1 else -s for i, s in enumerate(differing))) >= threshold
        return {"p": hits / (1 << len(differing)), "exact": True}
    stream = Stream(seed, "sign-flip-permutation")
    hits = 0
    for _ in range(samples):
        hits += abs(math.fsum(s if stream.integer(2) == 1 else -s for s in sums)) >= threshold
    return {"p": max(2.0 ** (1 - len(differing)), (1 + hits) / (1 + samples)), "exact": False}


def interpolate(ordered: list, share: float) -> float:
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def bca(values: list, labels: list, seed: int, samples: int, level: float) -> dict:
    sums, sizes = sum_clusters(values, labels)
    groups, total = len(sums), len(values)
    stream = Stream(seed, "bootstrap-interval")
    means = []
    for _ in range(samples):
        drawn = [stream.integer(groups) for _ in range(groups)]
        means.append(math.fsum(sums[g] for g in drawn) / sum(sizes[g] for g in drawn))
    means.sort()
    mean = math.fsum(sums) / total
    near = 1e-12 * math.fsum(abs(s) for s in sums) / total
    below = math.fsum(1 if m < mean - near else 0.5 if m <= mean + near else 0 for m in means)
    bias = NORMAL.inv_cdf(min(max(below, 0.5), samples - 0.5) / samples)
    left_out = [(math.fsum(sums) - s) / (total - size) for s, size in zip(sums, sizes)]
    centre = math.fsum(left_out) / groups
    squares = math.fsum((centre - m) ** 2 for m in left_out)
    skew = math.fsum((centre - m) ** 3 for m in left_out) / (6 * squares**1.5)
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        shifted = bias + NORMAL.inv_cdf(tail)
        ends.append(interpolate(means, NORMAL.cdf(bias + shifted / (1 - skew * shifted))))
    return {"mean": mean, "interval": ends}


def draw_values(groups: int, least: int, most: int, shape: str) -> tuple[list, list]:
    stream = Stream(groups, f"resampling.golden {shape}")
    values, labels = [], []
    for group in range(groups):
        shift = 0.05 + 0.2 * stream.normal()
        for _ in range(least + stream.integer(most - least + 1)):
            noise = stream.normal()
            drawn = {"normal": noise, "skewed": math.exp(noise) - 1.6, "counted": float(stream.integer(3) - 1)}[shape]
            values.append(round(shift + 0.3 * drawn, 6) if shape != "counted" else drawn / 2)
            labels.append(f"c{group}")
    return values, labels


def make_cases():
    for groups, least, most, shape in [
        (5, 1, 7, "normal"),
        (11, 2, 5, "counted"),
        (12, 1, 1, "skewed"),
        (19, 1, 9, "skewed"),
        (23, 1, 3, "counted"),
        (41, 1, 5, "normal"),
        (67, 1, 11, "skewed"),
    ]:
        values, labels = draw_values(groups, least, most, shape)
        for seed, samples, level in [(3, 1009, 0.95), (20260101, 499, 0.9)]:
            yield {
                "name": f"{groups} clusters, {shape}, seed {seed}",
                "values": values,
                "labels": labels,
                "seed": seed,
                "samples": samples,
                "level": level,
                "expected": {
                    "clustered": clustered(values, labels, level),
                    "signFlip": sign_flip(values, labels, seed, samples),
                    "bca": bca(values, labels, seed, samples, level),
                },
            }
