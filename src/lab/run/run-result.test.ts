import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import type { SliceAnswer } from '../../rank/retrieval/packed-slices.ts';
import { resolveConfig } from '../config/config.ts';
import { TOKENS } from '../measure/passport.ts';
import { buildSampleConfig, writeSampleJsonl } from './jsonl.fixture.ts';
import { type FinishedRun, runExperiment } from './run.ts';
import { summariseSlices } from './run-result.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-result-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SAME_CHANNEL = 'channel = $query.channel';
const words = [{ search: { bm25: { k: 17 } } }, { filter: SAME_CHANNEL }];
async function run(method: string, more: object = {}): Promise<FinishedRun> {
  const evaluation = { baseline: 'words', samples: 199, metrics: ['mrr@10'], attributionDepth: 3, ...more };
  const sweep = {
    method,
    arm: 'words',
    factors: { k1: { path: 'bm25.k1', values: [0.5, 2] }, filter: [SAME_CHANNEL, null] },
  };
  const config = resolveConfig({ ...buildSampleConfig(folder), evaluation, arms: { words }, sweep }, 'sample');
  return runExperiment(config, { backend: 'wasm', cacheFolder: join(folder, 'cache'), command: 'ragpp run' });
}

let factorial: FinishedRun;
beforeAll(async () => {
  await useBackend('wasm');
  writeSampleJsonl(folder);
  factorial = await run('factorial');
});

describe('the fate of relevant turns', () => {
  test('is reported for each measured query, although one of them has no answer', () => {
    const { result, runs, qrels } = factorial;
    expect(result.unanswerable.map(({ id }) => id)).toEqual(['q21-1']);
    expect(result.queries.map(({ id }) => id).indexOf('q22-0')).toBeGreaterThan(0);
    for (const { name, losses } of result.arms) {
      expect(losses).toHaveLength(result.queries.length);
      for (const [q, { id }] of result.queries.entries()) {
        const first = (runs.get(name)?.get(id) ?? []).slice(0, 3).map((turn) => turn.id);
        const relevant = [...(qrels.get(id)?.keys() ?? [])];
        expect(Object.keys(losses[q] ?? {})).toEqual(relevant);
        const kept = relevant.filter((turn) => losses[q]?.[turn] === 'kept');
        expect(kept, `${name} ${id}`).toEqual(relevant.filter((turn) => first.includes(turn)));
      }
    }
  });

  test('is counted for each arm', () => {
    for (const { attribution, losses } of factorial.result.arms) {
      const fates = losses.flatMap((one) => Object.values(one));
      for (const [fate, count] of Object.entries(attribution))
        expect(count).toBe(fates.filter((one) => one === fate).length);
      expect(Object.values(attribution).reduce((sum, count) => sum + count, 0)).toBe(fates.length);
    }
  });
});

test('a run with budgets has a curve for each arm, and names the turns that did not fit', async () => {
  const more = { metrics: ['evidence@8t'], tokenBudgets: [2, 8, 32], attributionDepth: 100, attributionTokens: 8 };
  const { result } = await run('factorial', more);
  expect(result.metrics).toEqual(['recall@8t']);
  expect(result.passports['recall@8t']).toMatchObject({ metric: 'recall@8t', tokens: TOKENS, queries: 13 });
  const unfiltered = result.arms.filter(({ levels }) => levels?.filter === 'none');
  for (const { attribution } of unfiltered) expect(attribution.budget).toBeGreaterThan(0);
  expect(unfiltered).toHaveLength(2);
  for (const { evidence, metrics, perQuery, losses } of result.arms) {
    expect(evidence?.budgets).toEqual([2, 8, 32]);
    expect(evidence?.recall[1]).toEqual(metrics['recall@8t']);
    for (const [k, { mean }] of (evidence?.recall ?? []).entries())
      expect(mean).toBeLessThanOrEqual(evidence?.ceiling[k]?.mean ?? Number.NaN);
    for (const [q, fates] of losses.entries()) {
      const all = Object.values(fates);
      expect(all.filter((fate) => fate === 'kept').length / all.length).toBeCloseTo(
        perQuery['recall@8t']?.[q] ?? Number.NaN,
        12,
      );
    }
  }
  expect(factorial.result.arms.every(({ evidence }) => evidence === undefined)).toBe(true);
});

describe('of a sweep', () => {
  const factors = [
    { name: 'k1', levels: ['0.5', '2'] },
    { name: 'filter', levels: [SAME_CHANNEL, 'none'] },
  ];

  test('that is factorial, the factors are reported with their interactions', () => {
    const { sweep, arms } = factorial.result;
    expect(sweep).toMatchObject({ method: 'factorial', factors });
    const mean = (k1: string, filter: string) =>
      arms.find(({ levels }) => levels?.k1 === k1 && levels.filter === filter)?.metrics['mrr@10']?.mean ?? Number.NaN;
    const together = mean('2', 'none') - mean('2', SAME_CHANNEL) - mean('0.5', 'none') + mean('0.5', SAME_CHANNEL);
    expect(sweep?.interactions.map(({ levels, metric }) => [...levels, metric])).toEqual([['2', 'none', 'mrr@10']]);
    expect(sweep?.interactions[0]?.effect.mean).toBeCloseTo(together, 12);
  });

  test('that is none, the factors alone', async () => {
    const { sweep } = (await run('grid')).result;
    expect(sweep).toEqual({ method: 'grid', arm: 'words', factors, interactions: [] });
  });
});

test('the turns that can be shown hold every ranked and every relevant one', () => {
  const { result } = factorial;
  const shown = new Set(result.dataset.turns.map(({ id }) => id));
  const named = [
    ...result.arms.flatMap(({ rankings }) => rankings.flat().map(({ id }) => id)),
    ...result.queries.flatMap(({ judgements }) => Object.keys(judgements)),
  ];
  expect(named.filter((id) => !shown.has(id))).toEqual([]);
  expect(named.length).toBeGreaterThan(100);
});

const own = {
  policyRef: 'near@1#0',
  issuedAt: 7,
  scope: { anchorTurnId: null, conversationId: null, author: null, channel: null },
};
const answers = [
  { ...own, anchorTurnId: 't3' },
  { ...own, anchorTurnId: null },
  { ...own, refused: 'no-anchor' },
] as unknown as SliceAnswer[];

test('turns a query, queries without an anchor, and the relevant turns outside by level', () => {
  const slices = { answers, starts: Int32Array.from([0, 5, 7, 7]), positions: new Int32Array(7) };
  const losses = [{ a: 'kept', b: 'slice' }, { c: 'fusion' }, { d: 'slice', e: 'slice' }];
  const strata = [
    {
      name: 'kind',
      description: '',
      levels: [
        { name: 'x', queries: [0, 2] },
        { name: 'y', queries: [1] },
      ],
    },
  ];
  expect(summariseSlices(slices, losses, strata)).toEqual({
    ...{ policyRef: 'near@1#0', queries: 3, meanTurns: 7 / 3, unanchored: 1, refused: 1, relevant: 5, inadmissible: 3 },
    strata: { kind: { x: { relevant: 4, inadmissible: 3 }, y: { relevant: 1, inadmissible: 0 } } },
  });
});
