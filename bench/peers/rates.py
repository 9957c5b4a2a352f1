"""The rates of a product of two square matrices and of a sum of two arrays in torch, float32, on its first card.

Usage: rates.py ROWS NUMBERS ROUNDS QUEUED. The fastest of some rounds, each of QUEUED runs between two readings of a
number, as bench/device.ts measures them. Prints JSON: versions, the device, GFLOP/s, GB/s, and on a card also the GFLOP/s
with inputs rounded to TF32, as TensorFlow multiplies on such a card. Without a card the processor computes.
"""

import json
import sys
import time

import torch


def time_queued(rounds, queued, compute):
    times = []
    for _ in range(rounds + 1):  # the first warms up
        start = time.perf_counter()
        for _ in range(queued):
            last = compute()
        last.flatten()[0].item()
        times.append(time.perf_counter() - start)
    return min(times) / queued


def main(rows, numbers, rounds, queued):
    torch.manual_seed(1)
    on_card = torch.cuda.is_available()
    device = torch.device("cuda" if on_card else "cpu")
    square = torch.rand(rows, rows, device=device)
    a, b = torch.rand(2, numbers, device=device)

    def measure_product(precision):
        torch.set_float32_matmul_precision(precision)
        return 2 * rows**3 / time_queued(rounds, queued, lambda: square @ square) / 1e9

    report = {
        "torch": torch.__version__,
        "device": torch.cuda.get_device_name() if on_card else f"the processor, threads: {torch.get_num_threads()}",
        "matmulRate": measure_product("highest"),
        "tf32Rate": measure_product("high") if on_card else None,
        "memoryRate": 3 * 4 * numbers / time_queued(rounds, queued, lambda: a + b) / 1e9,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
