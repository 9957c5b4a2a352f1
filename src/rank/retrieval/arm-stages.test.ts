import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import type { IndexOptions } from '../../index/registry.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { createSampleWorkspace, drawSampleWorld } from '../signals/corpus.fixture.ts';
import { cosineSignal } from '../signals/cosine.ts';
import { Plan, type StageRoots, withInputs } from '../signals/plan.ts';
import { recencySignal } from '../signals/recency.ts';
import type { Stage } from '../signals/stage.ts';
import type { Workspace } from '../signals/workspace.ts';
import { poolOfArm, SAMPLE_ARMS, type SampleArm } from './arms.fixture.ts';
import { candidatesFrom, poolRows } from './candidate-sources.ts';
import { listArmStages } from './form.ts';
import { retrieve } from './retriever.ts';
import { type RetrieverOptions, retrieverOptions } from './retriever-options.ts';

beforeAll(() => useBackend('wasm'));
const world = drawSampleWorld(7, 61, 5, 3);
const arms = Object.keys(SAMPLE_ARMS) as SampleArm[];

function countByName(stages: Iterable<Stage>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { name } of stages) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** All that an arm makes of a workspace. */
async function computeOutcome(workspace: Workspace, options: RetrieverOptions): Promise<unknown> {
  const { pool, scores, components } = await retrieve(workspace, options);
  return { positions: pool.positions, scores, components: [...components] };
}

test.each(arms)('what is foretold of an arm is what it executes: %s', async (arm) => {
  const workspace = createSampleWorkspace(world);
  await retrieve(workspace, SAMPLE_ARMS[arm]);
  const executed = Object.entries(workspace.readStageCounts()).map(([name, counts]) => [name, counts.executed]);
  const foretold = withInputs(listArmStages(workspace.plan, SAMPLE_ARMS[arm])).values();
  workspace.dispose();
  expect(Object.fromEntries(executed)).toEqual(countByName(foretold));
});

test('inputs precede the stages that need them, each once', () => {
  const workspace = createSampleWorkspace(world);
  const stages = [...withInputs(listArmStages(workspace.plan, SAMPLE_ARMS.unified)).values()];
  workspace.dispose();
  const places = new Map(stages.map(({ key }, place) => [key, place]));
  expect(places.size).toBe(stages.length);
  for (const [place, { inputs }] of stages.entries())
    for (const { key } of inputs) expect(places.get(key)).toBeLessThan(place);
});

describe('an arm is not mistaken for one that differs in a single option', () => {
  const hnsw = { index: 'hnsw', k: 13, m: 5, efConstruction: 11, efSearch: 13 };
  const bm25 = { index: 'bm25', k: 19, k1: 1.2, b: 0.75, variant: 'lucene', dropStopWords: false, stem: false };
  const flat: IndexOptions = { index: 'flat', k: 13 };
  const mix = { rcp: 0.4, ircp: 0.4, tpo: 0.2 };
  const ring = { topology: 'ring', combine: 'multiplicative', decay: 0.5, temperature: 0.1, self: 'include' };
  const written = {
    candidates: [bm25, hnsw, flat],
    relevance: { signals: ['cosine', 'bm25'], fusion: { method: 'convex', alpha: 0.5, theoreticalMinimum: [-1, 0] } },
    sameChannel: false,
    boosts: [{ attribute: 'outcome', factor: 0.5 }],
    decay: { halfLifeHours: 31 },
    trajectory: { weight: 0.3, dimensions: 5, complexityScale: 'log', sigma: 1, weights: { depth: 1 } },
    attention: { ...ring, mechanism: 'unified', mode: 'directed', weight: 0.2, mix },
    propagation: { ...ring, direction: 'none', beta: 0.3 },
    control: { kind: 'permuted-order', seed: 7 },
  };
  /** Path -> another value. */
  const changes: Record<string, unknown> = {
    'candidates.0.k': 7,
    'candidates.0.k1': 0.3,
    'candidates.0.b': 0.1,
    'candidates.0.variant': 'bm25+',
    'candidates.0.dropStopWords': true,
    'candidates.0.stem': true,
    'candidates.1.k': 5,
    'candidates.1.m': 2,
    'candidates.1.efConstruction': 1,
    'candidates.1.efSearch': 1,
    'candidates.2.k': 31,
    'relevance.fusion.alpha': 0.9,
    sameChannel: true,
    'boosts.0.attribute': 'importance',
    'boosts.0.factor': 2,
    'decay.halfLifeHours': 5,
    'trajectory.weight': 0.9,
    'trajectory.dimensions': 7,
    'trajectory.complexityScale': 'raw',
    'trajectory.sigma': 0.1,
    'trajectory.weights.depth': 5,
    'attention.topology': 'line',
    'attention.combine': 'additive',
    'attention.decay': 2,
    'attention.temperature': 1,
    'attention.self': 'exclude',
    'attention.mechanism': 'tpo',
    'attention.mode': 'literal',
    'attention.weight': 0.9,
    'attention.mix': { rcp: 0.1, ircp: 0.1, tpo: 0.8 },
    'propagation.topology': 'line',
    'propagation.combine': 'additive',
    'propagation.decay': 2,
    'propagation.temperature': 1,
    'propagation.self': 'exclude',
    'propagation.direction': 'causal',
    'propagation.beta': 0.9,
    'control.kind': 'rewired-graph',
    'control.seed': 5,
    selection: { method: 'mmr', k: 7, lambda: 0.4 },
    scoring: { signals: { groups: ['time', 'structure'], encoders: [] }, weights: { rcp: 1, newest: 2 }, origin: null },
  };
  const base = retrieverOptions.parse(written);

  function listLeafPathsOf(value: unknown, path: string): string[] {
    if (value === null || typeof value !== 'object' || path in changes) return [path];
    return Object.entries(value).flatMap(([key, item]) => listLeafPathsOf(item, path === '' ? key : `${path}.${key}`));
  }

  function changeOption(path: string): RetrieverOptions {
    const copy = structuredClone(base) as unknown as Record<string, never>;
    const keys = path.split('.');
    const last = keys.pop() as string;
    const holder = keys.reduce<Record<string, unknown>>((node, key) => node[key] as Record<string, never>, copy);
    holder[last] = changes[path];
    if (path === 'scoring') Object.assign(copy, { boosts: null, decay: null, trajectory: null, attention: null }); // whose place it takes
    return retrieverOptions.parse(copy);
  }

  test('every option has another value here', () => {
    const fixed = /^candidates\.\d\.index$|^relevance\.(signals|fusion\.(method|theoreticalMinimum))/;
    const options = listLeafPathsOf(base, '').filter((path) => !fixed.test(path));
    expect(options.sort()).toEqual(Object.keys(changes).sort());
  });

  // What is computed of the stages' results, and is no stage itself.
  const composed = ['relevance.fusion.alpha', 'trajectory.weight', 'attention.weight', 'selection'];
  let shared: Workspace;
  beforeAll(() => {
    shared = createSampleWorkspace(world);
  });
  afterAll(() => shared.dispose());

  test.each(Object.keys(changes))('%s', async (path) => {
    const listStageKeys = (options: RetrieverOptions) => [...withInputs(listArmStages(shared.plan, options)).keys()];
    if (composed.includes(path)) expect(listStageKeys(changeOption(path))).toEqual(listStageKeys(base));
    else expect(listStageKeys(changeOption(path))).not.toEqual(listStageKeys(base));
    const alone = createSampleWorkspace(world);
    try {
      const expected = await computeOutcome(alone, changeOption(path));
      await computeOutcome(shared, base);
      expect(await computeOutcome(shared, changeOption(path))).toEqual(expected);
    } finally {
      alone.dispose();
    }
  });
});

describe('the key of', () => {
  const roots: StageRoots = {
    identity: { code: 'c', data: 'd', encoder: { encoder: 'lsa', fittedOn: 'f' } },
    corpus: new Corpus(world.turns),
    queries: world.queries,
    seed: 3,
  };
  const keys = (other: Partial<StageRoots>): Record<string, string> => {
    const plan = new Plan({ ...roots, ...other });
    const stages = withInputs([
      ...listArmStages(plan, SAMPLE_ARMS.unified),
      ...listArmStages(plan, SAMPLE_ARMS['propagation, framework']),
      plan.stage(recencySignal(null), plan.stage(poolRows(poolOfArm(SAMPLE_ARMS.newest)))),
      plan.derived('tuning-value', { metric: 'mrr' }, listArmStages(plan, SAMPLE_ARMS.newest)),
    ]).values();
    return Object.fromEntries([...stages].map(({ name, key }) => [name, key]));
  };
  /** The pool is that of the newest turns. */
  const onTexts = ['pool', 'turn-components', 'query-components', 'candidates-newest', 'candidates-bm25', 'recency'];
  const { identity, queries } = roots;
  const others = queries.map((query, i) => (i === 2 ? { ...query, split: 'dev' as const } : query));
  const dev = queries.map((query, i) => (i === 2 ? { ...query, split: 'test' as const } : query));

  test.each<[string, Partial<StageRoots>, string[]]>([
    ['every stage depends on the code', { identity: { ...identity, code: 'x' } }, []],
    ['every stage depends on the data', { identity: { ...identity, data: 'x' } }, []],
    ['all but those on texts alone depend on the encoder', { identity: { ...identity, encoder: {} } }, onTexts],
    [
      'likewise on what it was fitted on',
      { identity: { ...identity, encoder: { encoder: 'lsa', fittedOn: 'x' } } },
      onTexts,
    ],
    [
      'all but those on turns alone depend on the queries',
      { queries: queries.slice(1) },
      ['turn-components', 'forward-cosines'],
    ],
    [
      'likewise on the split of each',
      { queries: queries[2]?.split === 'dev' ? dev : others },
      ['turn-components', 'forward-cosines'],
    ],
  ])('%s', (_, other, untouched) => {
    const [before, after] = [keys({}), keys(other)];
    expect(Object.keys(after)).toEqual(Object.keys(before));
    const same = Object.keys(before).filter((name) => before[name] === after[name]);
    expect(same.sort()).toEqual(untouched.toSorted());
  });

  test('hnsw depends on the seed, and with it what comes after; the exact index does not', () => {
    const [a, b] = [3, 4].map((seed) => new Plan({ ...roots, seed })) as [Plan, Plan];
    const hnsw = SAMPLE_ARMS['cosine, hnsw'];
    const source = candidatesFrom(hnsw.candidates[0] as IndexOptions, null);
    const pool = poolRows(poolOfArm(hnsw));
    expect(a.stage(source).key).not.toBe(b.stage(source).key);
    expect(a.stage(pool).key).not.toBe(b.stage(pool).key);
    const cosine = cosineSignal(null);
    expect(a.stage(cosine, a.stage(pool)).key).not.toBe(b.stage(cosine, b.stage(pool)).key);
    const flat = poolRows(poolOfArm(SAMPLE_ARMS['cosine, flat']));
    expect(a.stage(flat).key).toBe(b.stage(flat).key);
    expect(a.derived('x', null, []).key).not.toBe(b.derived('x', null, []).key);
  });

  test('every stage depends on the backend', async () => {
    const wasm = keys({});
    await useBackend('cpu');
    const cpu = keys({});
    await useBackend('wasm');
    expect(Object.keys(wasm).filter((name) => wasm[name] === cpu[name])).toEqual([]);
    expect(keys({})).toEqual(wasm);
  });
});
