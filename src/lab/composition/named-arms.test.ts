import { describe, expect, test } from 'vitest';
import type { ConfigurationError } from '../../core/errors/errors.ts';
import { readArm } from '../../rank/retrieval/written-steps.ts';
import { type ExperimentConfig, resolveConfig } from '../config/config.ts';
import { withTuned } from '../run/tuning.ts';
import { expandNamedArms, withPlacedSteps } from './named-arms.ts';

const rest = {
  name: 'steps',
  dataset: { name: 'spamassassin-threads' },
  embedding: { encoder: 'lsa', dimension: 3 },
  evaluation: { baseline: 'words' },
};
const words = [{ search: { bm25: { k: 10 } } }];
const resolve = (arms: object, more: object = {}): ExperimentConfig =>
  resolveConfig({ ...rest, arms: { words, ...arms }, ...more }, 'test.yaml');

const hybrid = {
  from: 'words',
  then: [{ 'search+': { hnsw: { k: 20 } } }, { fuse: { convex: { hnsw: 0.3, bm25: 'rest' } } }, { decay: 24 }],
  tune: { 'fuse.convex.hnsw': [0.1, 0.2], 'decay.halfLifeHours': [6, 12] },
};

const listPaths = (arms: object, more: object = {}): string[] => {
  try {
    resolve(arms, more);
  } catch (error) {
    return (error as ConfigurationError).faults.map(({ path, expected }) => `${path}: ${expected}`);
  }
  return [];
};

describe('arms in a mapping', () => {
  test('begin with the steps of another, add steps, and set single values by paths', () => {
    const { arms } = resolve({
      hybrid,
      more: { from: 'hybrid', set: { 'hnsw.k': 50, decay: null } },
      placed: { from: 'hybrid', then: [{ blend: { trajectory: 0.3 } }] },
      attending: { from: 'placed', then: [{ blend: { rcp: { weight: 0.1 } } }] },
    });
    expect(arms.map(({ name, steps, differences }) => [name, steps, differences])).toEqual([
      ['words', ['search'], ['search.bm25.k']],
      ['hybrid', ['search', 'fuse', 'decay'], ['search.hnsw.k', 'fuse.convex.hnsw', 'fuse.convex.bm25', 'decay']],
      ['more', ['search', 'fuse', 'decay'], ['search.hnsw.k', 'decay']],
      ['placed', ['search', 'fuse', 'decay', 'blend'], ['blend.trajectory']],
      ['attending', ['search', 'fuse', 'decay', 'blend'], ['blend.rcp.weight']],
    ]);
    expect(arms.map((arm) => readArm(arm).steps.map(({ name }) => name))).toEqual([
      ['search', 'relevance'],
      ['search', 'relevance', 'decay'],
      ['search', 'relevance'],
      ['search', 'relevance', 'decay', 'trajectory'],
      ['search', 'relevance', 'decay', 'trajectory', 'rcp'],
    ]);
    expect(readArm(arms[2]!).outline.sources.map(({ name, index }) => [name, index.k])).toEqual([
      ['bm25', 10],
      ['hnsw', 50],
    ]);
  });

  test('take over what they start from, through several arms, but not what is its own', () => {
    const { arms } = expandNamedArms({
      a: { description: 'A', steps: [{ search: { bm25: {} } }, { decay: 24 }], tune: { 'bm25.k': [1, 2] } },
      b: { from: 'a', then: [{ blend: { trajectory: 0.3 } }] },
      c: { from: 'b', set: { decay: null, 'bm25.k': 3 } },
    });
    expect(arms.map(({ options }) => options).slice(1)).toEqual([
      {
        name: 'b',
        extends: 'a',
        steps: ['search', 'decay', 'blend'],
        search: { bm25: {} },
        decay: { halfLifeHours: 24 },
        blend: { trajectory: { weight: 0.3 } },
        differences: ['blend.trajectory'],
      },
      {
        name: 'c',
        extends: 'b',
        steps: ['search', 'decay', 'blend'],
        search: { bm25: { k: 3 } },
        decay: null,
        blend: { trajectory: { weight: 0.3 } },
        differences: ['decay', 'search.bm25.k'],
      },
    ]);
  });

  test('have layers that tell where each value was written, from the first to the last word', () => {
    const { arms } = expandNamedArms({
      a: [{ search: { bm25: {} } }],
      b: { from: 'a', then: [{ decay: 24 }] },
      c: { from: 'b', set: { 'bm25.k': 3 } },
    });
    expect(arms[2]?.layers.map(({ keyPath, at }) => `${keyPath.join('.')}: ${at.join('.')}`)).toEqual([
      ': ',
      'arms.a: ',
      'arms.a.0.search: search',
      'arms.b: ',
      'arms.b.then.0.decay: decay',
      'arms.c: ',
      'arms.c.set.bm25.k: search.bm25.k',
    ]);
  });

  test('have paths that lead through short forms', () => {
    const { arms } = expandNamedArms({
      a: [
        { search: { bm25: {}, hnsw: {} } },
        { fuse: 'rrf' },
        { decay: 24 },
        { blend: { trajectory: 0.3, rcp: 0.1 } },
        { select: 'mmr' },
      ],
      b: {
        from: 'a',
        set: {
          'fuse.rrf.k': 7,
          'decay.halfLifeHours': 6,
          'blend.trajectory.sigma': 2,
          'blend.tpo': 0.4,
          'select.mmr.k': 5,
        },
      },
      mixed: [{ search: { bm25: {} } }, { mix: 'a.safetensors' }],
      other: { from: 'mixed', set: { 'mix.weights': 'b.safetensors' } },
    });
    expect(arms[1]?.options).toMatchObject({
      fuse: { rrf: { k: 7 } },
      decay: { halfLifeHours: 6 },
      blend: { trajectory: { weight: 0.3, sigma: 2 }, rcp: { weight: 0.1 }, tpo: { weight: 0.4 } },
      select: { mmr: { k: 5 } },
    });
    expect(arms[3]?.options).toMatchObject({ mix: { weights: 'b.safetensors' } });
  });

  test('are swept by the same paths, also those of sources, with mappings as named levels', () => {
    const sweep = {
      method: 'grid',
      arm: 'hybrid',
      factors: { depth: { path: 'hnsw.k', values: [3, 5] }, how: { ranks: { fuse: { rrf: {} } }, shares: {} } },
    };
    const { arms } = resolve({ hybrid }, { sweep });
    const swept = arms.slice(2);
    expect(swept.map(({ name }) => name)).toEqual([
      'hybrid | depth=3, how=ranks',
      'hybrid | depth=3, how=shares',
      'hybrid | depth=5, how=ranks',
      'hybrid | depth=5, how=shares',
    ]);
    expect(swept.map((arm) => readArm(arm).outline.sources[1]?.index.k)).toEqual([3, 3, 5, 5]);
    expect(swept.map((arm) => Object.keys((arm as unknown as { fuse: object }).fuse))).toEqual([
      ['rrf'],
      ['convex'],
      ['rrf'],
      ['convex'],
    ]);
  });

  test('take the order of their steps from a level of a sweep that gives it', () => {
    const kept = { filter: 'channel = $query.channel', steps: ['search', 'filter', 'fuse', 'decay'] };
    const { arms } = resolve(
      { hybrid },
      { sweep: { method: 'one-factor', arm: 'hybrid', factors: { seen: { kept } } } },
    );
    expect(arms.slice(2).map(({ steps }) => steps)).toEqual([kept.steps]);
    expect(readArm(arms[2]!).outline.poolFilters).toEqual([kept.filter]);
  });

  test('in their resolved form resolve to themselves', () => {
    const without = { from: 'hybrid', set: { decay: null, hnsw: null, fuse: null } };
    const { plugins: _, ...config } = resolve({ hybrid, without });
    expect(readArm(config.arms[2]!).outline.sources.map(({ name }) => name)).toEqual(['bm25']);
    expect(resolveConfig(JSON.parse(JSON.stringify(config)), 'again.yaml')).toEqual(config);
  });

  test.each([
    ['an unknown parent', { a: { from: 'wrods' } }, ['arms.a.from: an arm before it (words, hybrid)']],
    [
      'an unknown step',
      { a: { from: 'words', then: [{ dceay: 3 }] } },
      [expect.stringContaining('arms.a.then[0].dceay: a step: filter')],
    ],
    [
      'a step twice',
      { a: { from: 'hybrid', then: [{ decay: 3 }] } },
      [
        'arms.a.then[0].decay: one decay, which is at arms.hybrid.then[2].decay; write as: NAME beside this one; set changes decay',
      ],
    ],
    [
      'a search twice',
      { a: { from: 'words', then: [{ search: {} }] } },
      ['arms.a.then[0].search: one search in an arm, which is at arms.words[0].search; search+ adds sources'],
    ],
    [
      'a path that leads nowhere',
      { a: { from: 'hybrid', set: { 'hnws.k': 3 } } },
      [
        expect.stringContaining(
          'arms.a.set.hnws.k: a path that begins with a step or a source of the arm (search, fuse, decay, bm25, hnsw)',
        ),
      ],
    ],
    [
      'two steps in one item',
      { a: [{ search: { bm25: {} }, decay: 3 }] },
      ['arms.a[0]: one step: its name with its options'],
    ],
    [
      'an unknown key',
      { a: { form: 'words', steps: words } },
      [expect.stringContaining('arms.a.form: one of description, from')],
    ],
    [
      'steps beside from',
      { a: { from: 'words', steps: words } },
      [
        expect.stringContaining('arms.a.steps: then, whose steps'),
        expect.stringContaining('search: one search in an arm'),
      ],
    ],
    ['then without from', { a: { then: words } }, [expect.stringContaining('arms.a.then: an arm in from')]],
    [
      'a value of a wrong kind where it was set',
      { a: { from: 'hybrid', set: { 'hnsw.k': 0 } } },
      ['arms.a.set.hnsw.k: number >= 1'],
    ],
    [
      'a tuned path that leads nowhere',
      { a: { from: 'words', tune: { 'dacey.halfLifeHours': [1] } } },
      [expect.stringContaining('arms.a.tune.dacey.halfLifeHours: a path that begins')],
    ],
  ])('%s is a fault at its place', (_, arms, faults) => expect(listPaths({ hybrid, ...arms })).toEqual(faults));
});

test('arms that are broken are no fault of those that start from them', () => {
  expect(
    listPaths({
      broken: { from: 'words', then: [{ dceay: 3 }] },
      next: { from: 'broken', then: [{ decay: 6 }] },
      orphan: { from: 'nobody', then: [{ decay: 6 }] },
      last: { from: 'orphan', set: { decay: 3 } },
    }),
  ).toEqual([
    expect.stringContaining('arms.broken.then[0].dceay: a step'),
    'arms.orphan.from: an arm before it (words, broken, next)',
  ]);
});

test('a step that the order of an arm lacks is placed before those that come after its kind', () => {
  const place = (steps: string[], added: string) => withPlacedSteps({ steps, [added]: {} }).steps;
  expect(place(['search', 'fuse', 'select'], 'decay')).toEqual(['search', 'fuse', 'decay', 'select']);
  expect(place(['search', 'blend'], 'filter')).toEqual(['filter', 'search', 'blend']);
  expect(place(['search'], 'select')).toEqual(['search', 'select']);
  expect(place(['search', 'filter', 'fuse'], 'filter')).toEqual(['search', 'filter', 'fuse']);
  expect(withPlacedSteps({ steps: ['search'], decay: null }).steps).toEqual(['search']);
});

describe('a key that another has the place of is answered with it, at its path', () => {
  test.each([
    ['candidates', [{ index: 'bm25' }], 'search, as in search: { bm25: {} }'],
    ['run', 'theirs.trec', 'search, as in search: { run: { file: theirs.trec } }'],
    ['relevance', { signals: ['bm25'] }, 'fuse, as in fuse: { convex: { hnsw: 0.3, bm25: rest } }'],
    ['sameChannel', true, "filter after search, as in filter: 'channel = $query.channel'"],
    ['trajectory', {}, 'blend, as in blend: { trajectory: { weight: 0.3 } }'],
    ['attention', {}, 'blend, as in blend: { rcp: { weight: 0.2 } }'],
    ['propagation', {}, 'propagate, as in propagate: published'],
    ['boosts', [], 'boost, as in boost: [{ attribute: importance, factor: 0.2 }]'],
    ['curation', {}, 'curate, as in curate: {}'],
    ['selection', {}, 'select or rerank, as in select: { mmr: { k: 20 } }'],
    ['scoring', {}, 'mix, as in mix: weights.safetensors'],
    ['extends', 'words', 'from, as in from: hybrid'],
    ['base', {}, 'an arm, and from: its name in those that start from it'],
    ['name', 'x', 'the name of the arm as its key in arms'],
  ])('%s', (key, value, expected) => {
    expect(listPaths({ a: { from: 'words', [key]: value } })).toEqual([`arms.a.${key}: ${expected}`]);
    expect(listPaths({ a: [...words, { [key]: value }] })).toEqual([`arms.a[1].${key}: ${expected}`]);
    if (['extends', 'name'].includes(key)) return;
    const [fault] = listPaths({ a: { from: 'words', set: { [`${key}.x`]: 1 } } });
    expect(fault).toMatch(/^arms\.a\.set\..*: a path that begins with .*\(search, bm25\); /);
    expect(fault).toContain(expected);
  });

  test('what is shown instead can be written', () => {
    const steps = [
      { search: { bm25: {}, hnsw: {} } },
      { filter: 'channel = $query.channel' },
      { fuse: { convex: { hnsw: 0.3, bm25: 'rest' } } },
      { boost: [{ attribute: 'importance', factor: 0.2 }] },
      { curate: {} },
      { blend: { trajectory: { weight: 0.3 }, rcp: { weight: 0.2 } } },
      { select: { mmr: { k: 20 } } },
    ];
    expect(listPaths({ a: steps, b: [{ propagate: 'published' }, { search: { flat: {} } }] })).toEqual([]);
  });

  test('a step beside the list of steps is an error that shows where it belongs', () => {
    expect(listPaths({ a: { from: 'words', decay: 24 } })).toEqual([
      'arms.a.decay: a step in a list, as in then: [decay: ...]',
    ]);
  });
});

describe('a step with a name of its own', () => {
  const ages = [
    { search: { bm25: { k: 10 } } },
    { decay: 480 },
    { decay: 24, as: 'recent' },
    { blend: { trajectory: 0.3 } },
    { blend: { rcp: 0.1 }, as: 'later' },
    { rerank: 'mentions' },
    { select: 'mmr', as: 'last' },
  ];
  const readAges = (arm: ExperimentConfig['arms'][number]) => {
    const { decay, recent, later, last } = arm as unknown as Record<string, unknown>;
    return { decay, recent, later, last };
  };

  test('is addressed by it in set, tune, then and sweeps, and takes part in what others start from', () => {
    const { arms } = resolve(
      {
        ages: { steps: ages, tune: { 'recent.halfLifeHours': [6, 12] } },
        slower: {
          from: 'ages',
          then: [{ blend: { tpo: 0.2 }, as: 'later' }],
          set: { recent: 96, 'later.rcp.weight': 0.4, 'last.mmr.k': 7 },
        },
        without: { from: 'ages', set: { recent: null } },
      },
      {
        sweep: {
          method: 'one-factor',
          arm: 'slower',
          factors: {
            'later.rcp.weight': [0.6],
            recent: { path: 'recent', values: [7] },
            how: { other: { last: { 'diversity-filter': { k: 5 } } } },
          },
        },
      },
    );
    expect(arms[1]?.as).toEqual({ recent: 'decay', later: 'blend', last: 'select' });
    expect(arms[1]?.steps).toEqual(['search', 'decay', 'recent', 'blend', 'later', 'rerank', 'last']);
    expect(arms[1]?.tune).toEqual({ 'recent.halfLifeHours': [6, 12] });
    const [, , slower, without, weighted, fast, other] = arms.map(readAges);
    expect(slower).toMatchObject({
      decay: { halfLifeHours: 480 },
      recent: { halfLifeHours: 96 },
      later: { rcp: { weight: 0.4 }, tpo: { weight: 0.2 } },
      last: { mmr: { k: 7 } },
    });
    expect(arms[2]?.differences).toEqual(['later.tpo', 'recent', 'later.rcp.weight', 'last.mmr.k']);
    expect(without?.recent).toBeNull();
    expect(weighted?.later).toMatchObject({ rcp: { weight: 0.6 } });
    expect(fast?.recent).toEqual({ halfLifeHours: 7 });
    expect(Object.keys(other?.last as object)).toEqual(['diversity-filter']);
  });

  test('resolves to itself', () => {
    const { plugins: _, ...config } = resolve({ ages });
    expect(resolveConfig(JSON.parse(JSON.stringify(config)), 'again.yaml')).toEqual(config);
  });

  const filtered = [{ filter: "kind = 'a'" }, { search: { bm25: {} } }, { filter: "kind = 'b'" }];
  test.each([
    [
      'a name that another step has',
      { a: [...ages, { decay: 3, as: 'recent' }] },
      ['arms.a[7].as: another name than that of arms.a[2].decay'],
    ],
    [
      'a name for a search',
      { a: [{ search: { bm25: {} }, as: 'x' }] },
      ['arms.a[0].as: nothing: an arm has one search'],
    ],
    ['a name of a step', { a: [...ages, { decay: 3, as: 'mix' }] }, ['arms.a[7].as: a name that no step has']],
    [
      'a path that two steps have',
      { a: filtered, b: { from: 'a', set: { filter: null } } },
      [
        'arms.b.set.filter: one step filter, which is at arms.a[0].filter and arms.a[2].filter; write as: NAME beside one of them',
      ],
    ],
    [
      'a wrong value, where it is written',
      { a: [...ages.slice(0, 2), { decay: -1, as: 'recent' }] },
      ['arms.a[2].decay: number > 0'],
    ],
    [
      'a wrong order, by both names',
      { a: [...ages.slice(0, 6), { decay: 3, as: 'after' }] },
      ['arms.a[6].decay: after a step that gives scores, not after rerank, which gives ranking'],
    ],
  ])('%s is a fault at its place', (_, arms, faults) => expect(listPaths(arms)).toEqual(faults));
});

test('paths find keys with dots as the longest that there are, and new ones in quotes', () => {
  const mixed = [{ search: { bm25: {} } }, { mix: { weights: { 'decay.24h': 1, bm25: 0.5 } } }];
  const { arms } = resolve(
    {
      mixed: { steps: mixed, tune: { 'mix.weights.decay.24h': [2, 3] } },
      more: { from: 'mixed', set: { 'mix.weights.decay.24h': 4, 'mix.weights."decay.1h"': 5 } },
    },
    { sweep: { method: 'one-factor', arm: 'mixed', factors: { 'mix.weights.decay.24h': [7] } } },
  );
  const readWeights = (arm: unknown) => (arm as { readonly mix: { readonly weights: unknown } }).mix.weights;
  expect(readWeights(arms[2])).toEqual({ 'decay.24h': 4, bm25: 0.5, 'decay.1h': 5 });
  expect(readWeights(arms[3])).toEqual({ 'decay.24h': 7, bm25: 0.5 });
  expect(readWeights(withTuned(arms[1]!, { 'mix.weights.decay.24h': 3 }))).toEqual({ 'decay.24h': 3, bm25: 0.5 });
  expect(listPaths({ mixed, a: { from: 'mixed', set: { 'mix.weights.decay.24h': 'much' } } })).toEqual([
    'arms.a.set.mix.weights.decay.24h: number',
  ]);
});
