import { describe, expect, it } from 'vitest';
import { findFirstCopies } from './near-duplicates.ts';
import { Vocabulary } from './shingles.ts';

const listFirstCopies = (texts: string[]) => [...findFirstCopies(texts, new Vocabulary())];

function computeJaccard(a: string, b: string): number {
  const collectRuns = (text: string) => {
    const words = text.split(' ');
    return new Set(words.slice(0, Math.max(words.length - 4, 0)).map((_, i) => words.slice(i, i + 5).join(' ')));
  };
  const [left, right] = [collectRuns(a), collectRuns(b)];
  const shared = [...left].filter((run) => right.has(run)).length;
  return shared / (left.size + right.size - shared);
}

describe('findFirstCopies', () => {
  it('finds the first text that another one repeats, whatever its case and marks', () => {
    const text = 'Beat two eggs with a cup of milk and some salt';
    expect(listFirstCopies([text, 'something else altogether', `${text.toUpperCase()}!!`, text])).toEqual([
      -1, -1, 0, 0,
    ]);
  });

  it('passes over texts below five words', () => {
    expect(listFirstCopies(['me too and thanks', 'me too and thanks'])).toEqual([-1, -1]);
  });

  it('compares with first copies only', () => {
    const words = Array.from({ length: 61 }, (_, i) => `w${i}`);
    const chain = [0, 5, 10].map((cut) => words.slice(cut).join(' '));
    expect(computeJaccard(chain[1] as string, chain[2] as string)).toBeGreaterThan(0.8);
    expect(computeJaccard(chain[0] as string, chain[2] as string)).toBeGreaterThan(0.8);
    expect(listFirstCopies(chain)).toEqual([-1, 0, 0]);
  });

  it('agrees with a comparison of all pairs', () => {
    const texts = Array.from({ length: 43 }, (_, i) => {
      const words = Array.from({ length: 59 }, (_, k) => `${i % 5}w${k}`);
      return words.slice(i % 7, 59 - (i % 11)).join(' ');
    });
    const expected: number[] = [];
    for (const [i, text] of texts.entries())
      expected.push(texts.findIndex((other, j) => j < i && expected[j] === -1 && computeJaccard(text, other) > 0.8));
    expect(listFirstCopies(texts)).toEqual(expected);
    expect(new Set(expected).size).toBeGreaterThan(5);
  });
});
