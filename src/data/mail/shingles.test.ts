import { describe, expect, it } from 'vitest';
import { findFirstCopies, hashShingles, splitIntoTokens, Vocabulary } from './shingles.ts';

describe('splitIntoTokens', () => {
  it('takes words and numbers of any script in lower case', () => {
    expect(splitIntoTokens('Crème brûlée, 2 eggs; ЯЙЦА!')).toEqual(['crème', 'brûlée', '2', 'eggs', 'яйца']);
  });

  it('finds none where there are none', () => {
    expect(splitIntoTokens(' -- \n')).toEqual([]);
  });
});

describe('hashShingles', () => {
  it('tells runs apart as their joined words do', () => {
    const words = Array.from({ length: 997 }, (_, i) => `w${(i * i) % 7}`);
    const runs = words.slice(0, 997 - 2).map((_, i) => words.slice(i, i + 3).join(' '));
    const hashes = hashShingles(new Vocabulary().encode(words), 3);
    expect(hashes.length).toBe(995);
    const byHash = new Map<number, Set<string>>();
    for (const [i, hash] of hashes.entries()) byHash.set(hash, (byHash.get(hash) ?? new Set()).add(runs[i] as string));
    expect(byHash.size).toBe(new Set(runs).size);
    for (const same of byHash.values()) expect(same.size).toBe(1);
  });

  it('minds the order of the words', () => {
    const vocabulary = new Vocabulary();
    const [there] = hashShingles(vocabulary.encode(['a', 'b', 'c']), 3);
    const [back] = hashShingles(vocabulary.encode(['c', 'b', 'a']), 3);
    expect(there).not.toBe(back);
  });

  it('gives the same run the same number in another text', () => {
    const vocabulary = new Vocabulary();
    const [, second] = hashShingles(vocabulary.encode(['x', 'a', 'b']), 2);
    const [first] = hashShingles(vocabulary.encode(['a', 'b', 'y', 'z']), 2);
    expect(second).toBe(first);
  });

  it('spreads over whole numbers that a double holds', () => {
    const hashes = [
      ...hashShingles(
        Int32Array.from({ length: 20_011 }, (_, i) => i),
        8,
      ),
    ];
    expect(new Set(hashes).size).toBe(20_004);
    expect(hashes.every(Number.isSafeInteger)).toBe(true);
  });

  it('has no run in a text that is too short', () => {
    expect(hashShingles(Int32Array.of(1, 2, 3), 5).length).toBe(0);
  });
});

function listFirstCopies(texts: readonly string[]): number[] {
  const vocabulary = new Vocabulary();
  return [...findFirstCopies(texts.map((text) => vocabulary.encode(splitIntoTokens(text))))];
}

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
