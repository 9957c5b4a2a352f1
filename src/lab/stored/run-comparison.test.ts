import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { StorageError } from '../../core/errors/errors.ts';
import { noteProgress } from '../../core/terminal/progress.harness.ts';
import { SAMPLE_RUN, type SampleRun, writeSampleRun } from '../run/run-folder.fixture.ts';
import { compareRuns } from './run-comparison.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-compare-'));
afterAll(() => rmSync(root, { recursive: true }));
const [a, b] = [join(root, 'a'), join(root, 'b')];
beforeEach(() => rmSync(a, { recursive: true, force: true }));

function compareChanged(change: Partial<SampleRun>) {
  writeSampleRun(a, SAMPLE_RUN);
  writeSampleRun(b, { ...SAMPLE_RUN, ...change });
  return compareRuns(a, b);
}

/** Two-sided p of all sign vectors of the clusters' sums. */
function signFlipP(sums: readonly number[]): number {
  const totals = sums.reduce<number[]>((all, sum) => all.flatMap((total) => [total + sum, total - sum]), [0]);
  const observed = Math.abs(sums.reduce((sum, one) => sum + one, 0));
  return totals.filter((total) => Math.abs(total) >= observed - 1e-9).length / totals.length;
}

test('arms of both are compared query by query, whatever the order of the queries, and corrected over the arms', () => {
  const arms = { 'new arm': [1, 1, 1, 1, 1, 1], cosine: [1, 1, 1, 0.5, 1, 1], bm25: [0, 1, 0.25, 0, 0.5, 1] };
  const reversed = Object.fromEntries(Object.entries(arms).map(([name, values]) => [name, values.toReversed()]));
  const result = compareChanged({ queries: SAMPLE_RUN.queries.toReversed(), arms: reversed });
  expect(result.arms.map(({ name }) => name)).toEqual(['bm25', 'cosine']);
  expect(result).toMatchObject({ onlyInFirst: [], onlyInSecond: ['new arm'], obstacles: [], metrics: ['mrr@10'] });
  const gains = { bm25: [-1, 0.5, 0.25, -0.25, -0.5, 1], cosine: [0.5, 0.5, 0, 0.25, 0.5, 0.5] };
  const ps = Object.values(gains).map((gain) =>
    signFlipP([0, 2, 4].map((start) => (gain[start] as number) + (gain[start + 1] as number))),
  );
  const [bm25, cosine] = result.arms.map(({ metrics }) => metrics['mrr@10']);
  expect(bm25).toMatchObject({ first: 2.75 / 6, second: 2.75 / 6 });
  expect(bm25?.comparison).toMatchObject({ p: ps[0], correctedP: 1, wins: 3, ties: 0, losses: 3 });
  expect(cosine?.comparison).toMatchObject({
    p: ps[1],
    correctedP: 2 * (ps[1] as number),
    wins: 5,
    ties: 1,
    losses: 0,
  });
  expect(cosine?.comparison?.difference.mean).toBeCloseTo(2.25 / 6, 12);
});

test('configs are compared without the arms of one alone, and with what tuning chose', () => {
  const { differences } = compareChanged({
    config: {
      name: 'ladder',
      seed: 7,
      arms: [
        { name: 'cosine', k: 50, differences: ['k'] },
        { name: 'other', k: 1 },
      ],
    },
    arms: { cosine: SAMPLE_RUN.arms.cosine as number[], other: SAMPLE_RUN.arms.bm25 as number[] },
    tuned: { cosine: { 'decay.halfLifeHours': 24 } },
  });
  expect(differences).toEqual([
    { path: 'arms[cosine].k', first: 20, second: 50 },
    { path: 'tuned[cosine].decay.halfLifeHours', first: undefined, second: 24 },
  ]);
});

test.each<[string, Partial<SampleRun>, string]>([
  ['other data', { dataHash: 'ffff0000ffff0000' }, 'nothing is tested: the data differ, 0aaeb0ad6b7b and ffff0000ffff'],
  [
    'other queries',
    { queries: ['q1', 'q2', 'q3', 'q4', 'q5', 'q7'] },
    'nothing is tested: the queries differ, 6 and 6 with 5 in both',
  ],
])('of %s nothing is tested, and it says why', (_, change, obstacle) => {
  const result = compareChanged(change);
  expect(result.obstacles).toEqual([obstacle]);
  expect(result.arms.map(({ metrics }) => metrics['mrr@10']?.comparison)).toEqual([null, null]);
  expect(result.arms[1]?.metrics['mrr@10']?.second).toBe(3.25 / 6);
});

test('a metric with another definition is not tested', () => {
  const passports = { 'mrr@10': { definition: 'of the first', cutoff: 10 } };
  writeSampleRun(a, { ...SAMPLE_RUN, passports });
  writeSampleRun(b, { ...SAMPLE_RUN, passports: { 'mrr@10': { ...passports['mrr@10'], cutoff: 5 } } });
  expect(compareRuns(a, b).obstacles).toEqual(['mrr@10 is not compared: its definition differs']);
  writeSampleRun(b, { ...SAMPLE_RUN, passports: { 'mrr@10': { ...passports['mrr@10'], judgedAt: 0.4 } } });
  expect(compareRuns(a, b).obstacles).toEqual([]);
});

test('a run without its values says so, a folder that is none is an error', () => {
  compareChanged({});
  rmSync(join(b, 'per-query.jsonl'));
  expect(compareRuns(a, b).obstacles).toEqual([`nothing is tested: there is no per-query.jsonl in ${b}`]);
  expect(() => compareRuns(a, join(root, 'absent'))).toThrow(StorageError);
});

test('null controls are corrected by themselves', () => {
  const names = ['bm25', 'cosine', 'cosine | order', 'cosine | parents'];
  const gains = [0.5, 0.5, 0, 0.25, 0.5, 0.5];
  const buildGainArms = (more: number) =>
    Object.fromEntries(names.map((name) => [name, gains.map((gain) => (name === 'bm25' ? 0 : more * gain))]));
  const controls = {
    'cosine | order': { of: 'cosine', kind: 'order' },
    'cosine | parents': { of: 'cosine', kind: 'parents' },
  };
  writeSampleRun(a, { ...SAMPLE_RUN, arms: buildGainArms(0), controls });
  writeSampleRun(b, { ...SAMPLE_RUN, arms: buildGainArms(1), controls });
  const factors = compareRuns(a, b).arms.map(({ metrics }) => {
    const { p, correctedP } = metrics['mrr@10']?.comparison ?? { p: 0, correctedP: 0 };
    return correctedP / p;
  });
  // Two arms, of which one has p 1, and two controls of the same p.
  expect(factors).toEqual([1, 2, 2, 2]);
});

test('the metrics are shown as they are compared', () => {
  writeSampleRun(a, SAMPLE_RUN);
  writeSampleRun(b, SAMPLE_RUN);
  const { stages, progress } = noteProgress();
  compareRuns(a, b, progress);
  expect(stages).toEqual([['statistics', 1, 1]]);
});
