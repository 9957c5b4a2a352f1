import { describe, expect, test } from 'vitest';
import { createRandom } from '../../src/core/numbers/random.ts';
import { buildDayCorpus, computeNoon } from './corpus.fixture.ts';
import { listDayEnds, replay } from './replay.ts';
import { createRetentions, DAY_MILLISECONDS, type Retention } from './retention.ts';
import { driftSettings } from './settings.ts';

const [TURNS, D] = [97, 7];
const source = createRandom(5, 'replay.test');
let day = 0;
const corpus = buildDayCorpus(
  Array.from({ length: TURNS }, () => {
    day += source.uniform() < 0.03 ? 17 : source.uniform();
    return [`c${source.integer(11)}`, day] as const;
  }),
);
const embeddings = Float32Array.from({ length: TURNS * D }, () => source.drawNormal());
embeddings.fill(0, 13 * D, 14 * D);
const settings = driftSettings.parse({ retentionDays: 5, halfLifeDays: 2, capacity: 13 });

interface Weighed {
  readonly position: number;
  readonly weight: number;
}

/** The figures of a memory from the definition, in float64. */
function computeHeldFigures(held: readonly Weighed[]) {
  const total = held.reduce((sum, { weight }) => sum + weight, 0);
  const mean = new Array<number>(D).fill(0);
  let [magnitude, information] = [0, 0];
  for (const { position, weight } of held) {
    const row = [...embeddings.subarray(position * D, (position + 1) * D)];
    const length = Math.hypot(...row);
    magnitude += (weight / total) * length;
    information -= (weight / total) * Math.log(weight / total);
    if (length > 0) for (const [i, value] of row.entries()) mean[i]! += ((weight / total) * value) / length;
  }
  return {
    count: held.length,
    magnitude,
    energy: mean.reduce((sum, value) => sum + value * value, 0) / 2,
    information,
  };
}

/** The policies that are a question of age alone, by their definition. */
const BY_AGE: Readonly<Record<string, (age: number) => number>> = {
  'keep everything': () => 1,
  '5 days': (age) => (age < 5 * DAY_MILLISECONDS ? 1 : 0),
  '5 days, fading': (age) => (age < 5 * DAY_MILLISECONDS ? 0.5 ** (age / (2 * DAY_MILLISECONDS)) : 0),
};

describe('replay', () => {
  test.each(createRetentions(corpus, settings).slice(0, 3))(
    '$name: each day is what its definition gives',
    (retention) => {
      const { samples, tally } = replay(corpus, embeddings, retention);
      expect(samples.map(({ time }) => time)).toEqual(listDayEnds(corpus));
      for (const sample of samples) {
        const weightOf = BY_AGE[retention.name] as (age: number) => number;
        const held = corpus.turns.flatMap(({ timestamp }, position) => {
          const weight = timestamp < sample.time ? weightOf(sample.time - timestamp) : 0;
          return weight > 0 ? [{ position, weight }] : [];
        });
        for (const [name, expected] of Object.entries(computeHeldFigures(held)))
          expect(sample[name as keyof typeof sample], `${name} of ${sample.time}`).toBeCloseTo(expected, 9);
      }
      expect(tally.added).toBe(TURNS);
      expect(tally.removed).toBe(TURNS - (samples.at(-1)?.count ?? 0));
    },
  );

  test('the laws are asked of every operation', () => {
    const small = buildDayCorpus([
      ['a', 0],
      ['b', 1],
      ['c', 1.25],
      ['d', 3],
    ]);
    const rows = Float32Array.from([1, 0, 1, 0, 0, 1.3, 0, 1]);
    const leaving = new Map([
      [1.25, [0]],
      [3, [1, 2]],
    ]);
    const retention: Retention = {
      name: 'handmade',
      description: '',
      salienceOf: (position) => [1, 1, 98, 1][position] as number,
      admit() {},
      release(moment) {
        const entry = [...leaving].find(([at]) => computeNoon(at) <= moment);
        if (entry === undefined) return [];
        leaving.delete(entry[0]);
        return entry[1];
      },
    };
    const days: number[] = [];
    const { tally, samples } = replay(small, rows, retention, (done) => days.push(done));
    // Before c: a leaves, 1 nat less. c comes with all the weight and a length of its own: magnitude breaks. Before d: b leaves, then c, the last of all.
    expect(tally).toEqual({ added: 4, removed: 3, addedFell: 0, removedFell: 2, violations: 2 });
    expect(samples.map(({ count }) => count)).toEqual([1, 2, 2, 1]);
    expect(days).toEqual([1, 2, 3, 4]);
  });

  test('a heavy newcomer that lowers information is counted', () => {
    const small = buildDayCorpus([
      ['a', 0],
      ['b', 1],
      ['c', 2],
    ]);
    const [everything] = createRetentions(small, settings) as [Retention];
    const heavy = { ...everything, salienceOf: (position: number) => [1, 1, 98][position] as number };
    expect(replay(small, Float32Array.from([1, 0, 1, 0, 0, 1]), heavy).tally.addedFell).toBe(1);
  });

  test('an empty corpus has no days', () => {
    expect(listDayEnds(buildDayCorpus([]))).toEqual([]);
  });
});
