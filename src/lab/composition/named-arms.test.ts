import { describe, expect, test } from 'vitest';
import type { ConfigurationError } from '../../core/errors/errors.ts';
import { readArm } from '../../rank/retrieval/written-steps.ts';
import { type ExperimentConfig, resolveConfig } from '../config/config.ts';

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

  test('in their resolved form resolve to themselves', () => {
    const { plugins: _, ...config } = resolve({ hybrid });
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
      ['arms.a.then[0].decay: each step once; set changes decay'],
    ],
    [
      'a search twice',
      { a: { from: 'words', then: [{ search: {} }] } },
      ['arms.a.then[0].search: each step once; search+ adds sources'],
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
      [expect.stringContaining('arms.a.steps: then, whose steps'), expect.stringContaining('search: each step once')],
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
