import type { Part } from './topic.ts';

/** The worst deviations found in a part, and the place of its first failure. */
export interface Deviation {
  readonly absolute: number;
  readonly relative: number;
  readonly failure: string | null;
}

const NONE: Deviation = { absolute: 0, relative: 0, failure: null };

function merge(a: Deviation, b: Deviation): Deviation {
  return {
    absolute: Math.max(a.absolute, b.absolute),
    relative: Math.max(a.relative, b.relative),
    failure: a.failure ?? b.failure,
  };
}

function buildFailedDeviation(at: string, expected: unknown, got: unknown): Deviation {
  return {
    absolute: Number.POSITIVE_INFINITY,
    relative: Number.POSITIVE_INFINITY,
    failure: `${at}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`,
  };
}

function compareNumbers(part: Part, expected: number, got: number): Deviation {
  if (Number.isNaN(got) || !Number.isFinite(got)) return buildFailedDeviation(part.at, expected, String(got));
  const absolute = Math.abs(got - expected);
  const relative = expected === 0 ? 0 : absolute / Math.abs(expected);
  const passed = absolute <= part.tolerance.absolute + part.tolerance.relative * Math.abs(expected);
  return { absolute, relative, failure: passed ? null : `${part.at}: expected ${expected}, got ${got}` };
}

/** Numbers within the tolerance; texts, booleans, nulls, lengths and sets of keys exactly. */
export function measureDeviation(part: Part): Deviation {
  const { at, expected, got } = part;
  if (typeof expected === 'number' && typeof got === 'number') return compareNumbers(part, expected, got);
  if (Array.isArray(expected)) {
    if (!Array.isArray(got) || got.length !== expected.length) return buildFailedDeviation(at, expected, got);
    return expected
      .map((item, i) => measureDeviation({ ...part, at: `${at}[${i}]`, expected: item, got: got[i] }))
      .reduce(merge, NONE);
  }
  if (expected !== null && typeof expected === 'object') {
    if (got === null || typeof got !== 'object') return buildFailedDeviation(at, expected, got);
    const keys = Object.keys(expected).sort();
    if (keys.join() !== Object.keys(got).sort().join())
      return buildFailedDeviation(`keys of ${at}`, keys, Object.keys(got).sort());
    return keys
      .map((key) =>
        measureDeviation({
          ...part,
          at: `${at}.${key}`,
          expected: (expected as Record<string, unknown>)[key],
          got: (got as Record<string, unknown>)[key],
        }),
      )
      .reduce(merge, NONE);
  }
  return expected === got ? NONE : buildFailedDeviation(at, expected, got);
}
