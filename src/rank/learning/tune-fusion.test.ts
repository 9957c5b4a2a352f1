import { describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { evaluate, summarise } from '../../eval/metrics/evaluate.ts';
import type { Run } from '../../model/run.ts';
import { compareScored } from '../../model/turns/tie-rule.ts';
import { FUSIONS, fuseLists, parseFusion } from '../../ops/fusion/registry.ts';
import { listFusionCandidates, tuneFusion } from './tune-fusion.ts';

const training = Array.from({ length: 13 }, (_, q) => `train${q}`);
const other = Array.from({ length: 7 }, (_, q) => `other${q}`);

/** Two runs: one finds the relevant document with noise, the other is noise. Other queries have the runs exchanged. */
function buildRuns() {
  const random = createRandom(11, 'tune-fusion');
  const good = new Map<string, { id: string; score: number }[]>();
  const noise = new Map<string, { id: string; score: number }[]>();
  for (const query of [...training, ...other]) {
    const draw = (bonus: number) =>
      Array.from({ length: 17 }, (_, d) => ({ id: `d${d}`, score: random.uniform() + (d === 5 ? bonus : 0) })).sort(
        compareScored,
      );
    const [own, rest] = [draw(0.7), draw(0)];
    good.set(query, training.includes(query) ? own : rest);
    noise.set(query, training.includes(query) ? rest : own);
  }
  return { good: good as Run, noise: noise as Run };
}

const { good, noise } = buildRuns();
const runs = new Map([
  ['good', good],
  ['noise', noise],
]);
const qrels = new Map([...training, ...other].map((query) => [query, new Map([['d5', 1]])]));

/** A map whose other queries are an error to look at. */
class Guarded<V> extends Map<string, V> {
  override get(query: string): V | undefined {
    if (other.includes(query)) throw new Error(`tuning read ${query}`);
    return super.get(query);
  }
  override entries(): never {
    throw new Error('tuning read all queries');
  }
  override values = this.entries;
  override keys = this.entries;
  override forEach = this.entries;
  override [Symbol.iterator] = this.entries;
}
const guard = <V>(map: ReadonlyMap<string, V>): Guarded<V> => {
  const guarded = new Guarded<V>();
  for (const [query, value] of map) guarded.set(query, value);
  return guarded;
};

describe('tuneFusion', () => {
  const tuning = tuneFusion(runs, qrels, { training, metric: 'RR@10' });

  test('chooses the candidate with the largest mean, the first of equal ones, and reports every one', () => {
    expect(tuning.metric).toBe('mrr@10');
    expect(tuning.queries).toEqual(training);
    expect(tuning.tried.map(({ fusion }) => fusion)).toEqual(listFusionCandidates(['good', 'noise']));
    const values = tuning.tried.map(({ value }) => value ?? -1);
    expect(tuning.value).toBe(Math.max(...values));
    expect(tuning.chosen).toEqual(tuning.tried[values.indexOf(tuning.value)]?.fusion);
    expect(new Set(values).size).toBeGreaterThan(10);
  });

  test('the value is that of the fused run', () => {
    const judged = new Map(training.map((query) => [query, qrels.get(query) ?? new Map()]));
    const fuse = (query: string) =>
      fuseLists({ good: good.get(query) ?? [], noise: noise.get(query) ?? [] }, tuning.chosen);
    const fused: Run = new Map(training.map((query) => [query, fuse(query)]));
    const evaluation = evaluate(fused, judged, ['mrr@10'], { relevantGrade: 1, unanswerable: 'apart', holeDepth: 10 });
    expect(summarise(evaluation)['mrr@10']).toBeCloseTo(tuning.value, 12);
  });

  test('reads the training queries alone, and does not change with the others', () => {
    const guarded = new Map([...runs].map(([name, run]) => [name, guard(run)]));
    expect(tuneFusion(guarded, guard(qrels), { training, metric: 'RR@10' })).toEqual(tuning);
    expect(() => tuneFusion(guarded, guard(qrels), { training: [...training, 'other3'] })).toThrow('read other3');
    expect(tuneFusion(runs, qrels, { training: other, metric: 'RR@10' }).chosen).not.toEqual(tuning.chosen);
  });

  test('the source that helps gets the larger weight', () => {
    const candidates = listFusionCandidates(['good', 'noise']).filter(({ method }) => method === 'wsum');
    const { chosen } = tuneFusion(runs, qrels, { training, candidates });
    const { weights } = chosen as { weights: Record<string, number> };
    expect(weights.good as number).toBeGreaterThan(weights.noise as number);
  });

  test('a candidate that cannot be computed is reported and not chosen', () => {
    const below: Run = new Map(
      Array.from(good, ([query, list]) => [query, list.map((one) => ({ ...one, score: one.score - 9 }))]),
    );
    const candidates = ['max', 'min-max'].map((normalisation) => parseFusion({ method: 'sum', normalisation }, 'test'));
    const { chosen, tried } = tuneFusion(new Map([...runs, ['good', below]]), qrels, { training, candidates });
    expect(chosen).toEqual(candidates[1]);
    expect(tried[0]).toEqual({ fusion: candidates[0], value: null, failure: expect.stringContaining('use min-max') });
    const impossible = { training, candidates: candidates.slice(0, 1) };
    expect(() => tuneFusion(new Map([...runs, ['good', below]]), qrels, impossible)).toThrow(
      /^none of 1 candidates could be computed: normalisation max .*; pass others$/,
    );
  });

  test('refuses one run, and queries without a relevant document', () => {
    expect(() => tuneFusion(new Map([['good', good]]), qrels, { training })).toThrow(
      'tuneFusion has 1 runs; pass at least 2',
    );
    expect(() => tuneFusion(runs, qrels, { training: ['unknown'] })).toThrow(
      'none of 0 judged training queries has a relevant document; pass the ids of training queries',
    );
  });
});

test('the candidates are every method of lists, with weights for two and three sources', () => {
  const listMethods = (sources: readonly string[]) =>
    new Set(listFusionCandidates(sources).map(({ method }) => method));
  const lists = FUSIONS.names.filter((name) => !['convex', 'weighted'].includes(name));
  expect(listMethods(['a', 'b'])).toEqual(new Set(lists));
  expect(listMethods(['a', 'b', 'c'])).toEqual(new Set(lists));
  expect([...listMethods(['a', 'b', 'c', 'd'])].some((method) => method.startsWith('w'))).toBe(false);
  for (const options of listFusionCandidates(['a', 'b', 'c']))
    if ('weights' in options && Object.keys(options.weights ?? {}).length > 0)
      expect(Object.values(options.weights as Record<string, number>).reduce((a, b) => a + b, 0)).toBeCloseTo(1, 12);
});
