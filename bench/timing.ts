/** Milliseconds on the wall clock. Other work on the machine stretches the median; the fastest run it hardly touches. */
export interface Times {
  readonly median: number;
  readonly fastest: number;
}

export function median(values: readonly number[]): number {
  const ascending = [...values].sort((a, b) => a - b);
  const middle = ascending.length >> 1;
  return ascending.length % 2 === 1 ? ascending[middle]! : (ascending[middle - 1]! + ascending[middle]!) / 2;
}

/** Times of `repeats` runs, the first with compilation, and the result of the last. */
export function timeRepeats<T>(repeats: number, work: () => T | Promise<T>): Promise<Times & { readonly result: T }> {
  return timePrepared(repeats, () => {}, work);
}

/** {@link timeRepeats}, each run with an untimed preparation. */
export async function timePrepared<P, T>(
  repeats: number,
  prepare: () => P | Promise<P>,
  work: (prepared: P) => T | Promise<T>,
): Promise<Times & { readonly result: T }> {
  const times: number[] = [];
  for (;;) {
    const prepared = await prepare();
    const start = performance.now();
    const result = await work(prepared);
    times.push(performance.now() - start);
    if (times.length >= repeats) return { median: median(times), fastest: Math.min(...times), result };
  }
}

/** Of the processor, all threads, which other work on the machine does not lengthen much. */
export function readProcessorSeconds(): number {
  const { user, system } = process.cpuUsage(); // microseconds
  return (user + system) / 1e6;
}
