import { expect, test } from 'vitest';
import { createRandom } from '../../src/core/numbers/random.ts';
import { computePairedDifferences } from '../../src/eval/significance/paired-differences.ts';
import { openMemory } from '../../src/memory/engine/open-memory.ts';
import { drawWorld, type PlantedRun, rankFound, runPolicies } from './planted.ts';
import { BASE, drawBeta, POLICIES } from './policies.ts';
import { outcomeLearningSettings } from './settings.ts';

const settings = outcomeLearningSettings.parse({
  planted: { topics: 7, records: 5, pool: 5, shown: 2, outcomes: [1, 11] },
}).planted;

const computeMean = (values: ArrayLike<number>) =>
  Array.from(values).reduce((sum, value) => sum + value, 0) / values.length;

test.each([
  [0.3, 2],
  [5, 3],
  [1, 0],
])('draws of beta(%d, %d) have its mean and variance', (a, b) => {
  const random = createRandom(3, 'beta');
  const draws = Array.from({ length: 20_000 }, () => drawBeta(a, b, random));
  const mean = a / (a + b);
  expect(computeMean(draws)).toBeCloseTo(mean, 2);
  const variance = (a * b) / ((a + b) ** 2 * (a + b + 1));
  expect(computeMean(draws.map((draw) => (draw - mean) ** 2))).toBeCloseTo(variance, 2);
});

test('what a question finds is ordered as by the reranker of a memory', async () => {
  const reranker = { method: 'outcome', alpha: 0.5, pool: 'both', kappa: 3 } as const;
  const memory = await openMemory({ dimension: 2, reranker, cache: { enabled: false } });
  const random = createRandom(5, 'records');
  const angles = Array.from({ length: 13 }, (_, i) => i / 20);
  const embed = (angle: number) => Float32Array.of(Math.cos(angle), Math.sin(angle));
  await memory.addBatch(
    angles.map((angle, i) => ({ id: `${i}`, embedding: embed(angle), context: 'a', createdAt: i })),
  );
  for (let i = 0; i < 60; i++) await memory.updateStats(`${random.integer(9)}`, random.integer(2));
  const found = await memory.searchOnly(embed(0.1), 13);
  const read = found.map(({ id }) => ({ outcome: null, stats: memory.get(id)!.stats }));
  const { candidates } = await memory.query({ embedding: embed(0.1), k: 13 });
  const ranked = await rankFound(found, read, { alpha: 0.5, kappa: 3 });
  expect(ranked.map(({ id }) => id)).toEqual(candidates.map(({ recordId }) => recordId));
  expect(ranked.map(({ id }) => id)).not.toEqual(found.map(({ id }) => id));
  await memory.close();
});

test('every policy is asked the same questions; outcomes that are exchanged, or of equal rates, teach nothing', async () => {
  for (const strength of [0, 1]) {
    const worlds: PlantedRun[][] = [];
    for (const seed of [1, 2, 3, 4, 5, 6])
      worlds.push(await runPolicies(drawWorld(settings, strength, seed), seed, { alpha: 0.5, settings }));
    const read = (name: string) => worlds.map((runs) => runs.find(({ policy }) => policy === name) as PlantedRun);
    const gain = (name: string) =>
      computeMean(
        read(name).flatMap(({ values }, world) =>
          computeMean(computePairedDifferences(values, read(BASE)[world]!.values).slice(100)),
        ),
      );
    for (const { name } of POLICIES)
      expect(read(name).map(({ topics }) => topics)).toEqual(read(BASE).map(({ topics }) => topics));
    if (strength === 0) expect(gain('known rates')).toBe(0);
    else {
      expect(gain('known rates')).toBeGreaterThan(0.2);
      expect(gain('prior')).toBeGreaterThan(0.1);
      expect(Math.abs(gain('prior, exchanged'))).toBeLessThan(0.05);
      // No outcome from 0 lowers a score, so nothing that was not shown comes before what was.
      expect(read('mean')).toEqual(read(BASE).map((run) => ({ ...run, policy: 'mean' })));
    }
  }
});
