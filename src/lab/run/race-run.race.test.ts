import { describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { findDropouts, raceShares } from './race-run.ts';
import { drawConversations } from './rankings.ts';

const CONVERSATIONS = 61;
const labels = Array.from({ length: 173 }, (_, i) => `c${i % CONVERSATIONS}`);

test('each round is about twice as many conversations as the one before, the last about all', () => {
  expect(raceShares(4)).toEqual([1 / 8, 1 / 4, 1 / 2, 1]);
});

/** Reciprocal ranks with a share of each conversation's own: 1 / rank for ranks 1 to 4, else 0, an easier conversation giving better ranks in every arm. */
function draw(stream: ReturnType<typeof createRandom>, qualities: readonly number[]): number[][] {
  const ease = Array.from({ length: CONVERSATIONS }, () => stream.drawNormal());
  return qualities.map((quality) => {
    const taste = Array.from({ length: CONVERSATIONS }, () => stream.drawNormal());
    return labels.map((_, i) => {
      const c = i % CONVERSATIONS;
      const place =
        1 + Math.floor(Math.exp(1 - quality - (ease[c] as number) - 0.7 * (taste[c] as number) + stream.drawNormal()));
      return place <= 4 ? 1 / place : 0;
    });
  });
}

describe('dropouts', () => {
  const stream = createRandom(11, 'race test');

  test('are the hopeless, not the good, with the figures that a t test over conversations gives', () => {
    const arms = draw(stream, [0, 0.1, -3]);
    const [dropout, ...more] = findDropouts(arms, labels, { confidence: 0.99, rounds: 4 });
    expect(more).toEqual([]);
    expect(dropout?.arm).toBe(2);
    const mean = (values: readonly number[]) => values.reduce((a, b) => a + b) / values.length;
    expect(dropout?.mean).toBeCloseTo(mean(arms[2] as number[]), 12);
    const best = Math.max(mean(arms[0] as number[]), mean(arms[1] as number[]));
    expect(dropout?.difference.mean).toBeCloseTo(mean(arms[2] as number[]) - best, 12);
    expect(dropout?.difference.high).toBeLessThan(0);
    expect(dropout?.p).toBeLessThan(0.01);
  });

  test('need more evidence the more arms and rounds there are', () => {
    const [good, bad] = draw(stream, [0, -0.7]) as [number[], number[]];
    const computeRaceP = (arms: number[][], rounds: number) =>
      findDropouts(arms, labels, { confidence: 0.5, rounds }).find(({ arm }) => arm === 1)?.p as number;
    const alone = computeRaceP([good, bad], 2);
    expect(computeRaceP([good, bad], 4)).toBeCloseTo(3 * alone, 12);
    expect(computeRaceP([good, bad, good, good], 2)).toBeCloseTo(3 * alone, 12);
  });

  test('are corrected by Holm: of three tests the second surest p is doubled', () => {
    const own = createRandom(13, 'race test, holm');
    const [good, worst, middle, near] = draw(own, [0, -3, -0.8, -0.2]) as [number[], number[], number[], number[]];
    const computeRaceP = (arms: number[][], arm: number) =>
      findDropouts(arms, labels, { confidence: 0.5, rounds: 2 }).find((out) => out.arm === arm)?.p as number;
    const [first, second, third] = [worst, middle, near].map((arm) => computeRaceP([good, arm], 1)) as [
      number,
      number,
      number,
    ];
    expect(3 * first).toBeLessThan(second);
    expect(2 * second).toBeLessThan(third);
    expect(computeRaceP([good, worst, middle, near], 2)).toBeCloseTo(2 * second, 12);
  });

  test('are never the arms that are to be kept, and nobody while there are too few conversations', () => {
    const arms = draw(stream, [0, -4]);
    expect(findDropouts(arms, labels, { confidence: 0.99, rounds: 2 })).toHaveLength(1);
    expect(findDropouts(arms, labels, { confidence: 0.99, rounds: 2 }, new Set([1]))).toEqual([]);
    const few = arms.map((values) => values.slice(0, 11));
    expect(findDropouts(few, labels.slice(0, 11), { confidence: 0.99, rounds: 2 })).toEqual([]);
    expect(findDropouts([arms[1] as number[]], labels, { confidence: 0.99, rounds: 2 })).toEqual([]);
  });

  test.each([0.9, 0.99])(
    'at confidence %d an arm as good as the others is stopped more rarely than that allows',
    (confidence) => {
      const rounds = 3;
      const races = 400;
      const arms = 5;
      let stopped = 0;
      for (let race = 0; race < races; race++) {
        const values = draw(stream, new Array(arms).fill(0));
        const running = new Set(values.keys());
        for (const share of raceShares(rounds).slice(0, -1)) {
          const sample = drawConversations(labels, share, race);
          const queries = labels.flatMap((label, q) => (sample.has(label) ? [q] : []));
          const places = [...running];
          const round = places.map((arm) => queries.map((q) => values[arm]?.[q] as number));
          const out = findDropouts(
            round,
            queries.map((q) => labels[q] as string),
            { confidence, rounds },
          );
          for (const { arm } of out) running.delete(places[arm] as number);
        }
        stopped += arms - running.size;
      }
      const rate = stopped / (races * arms);
      expect(rate).toBeLessThan(1 - confidence);
      expect(rate).toBeGreaterThan(0);
    },
  );
});
