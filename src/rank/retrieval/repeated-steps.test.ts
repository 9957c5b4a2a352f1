import { beforeAll, describe, expect, test } from 'vitest';
import type { ConfigurationError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { createSampleWorkspace, drawSampleWorld } from '../signals/corpus.fixture.ts';
import { decomposeScores, retrieve } from './retriever.ts';
import { filter } from './steps/functions.ts';
import { listArmStages, parseSteps, readArm, type WrittenStep } from './written-steps.ts';

beforeAll(() => useBackend('wasm'));
const world = drawSampleWorld(7, 101, 11, 3);
const search = { bm25: { k: 19 }, flat: { k: 13 } };
const fuse = { convex: { flat: 0.6, bm25: 'rest' } };
const start: readonly WrittenStep[] = [{ search }, { fuse }];

async function compute(list: readonly WrittenStep[]) {
  const workspace = createSampleWorkspace(world);
  const options = parseSteps(list);
  const retrieved = await retrieve(workspace, options);
  const places = Int32Array.from(retrieved.pool.positions, (position, place) => (position < 0 ? -1 : place));
  const { names, values } = await decomposeScores(workspace, readArm(options), retrieved, places);
  const keys = listArmStages(workspace.plan, options).map(({ key }) => key);
  workspace.dispose();
  return { options, ...retrieved, names, values, keys };
}

const listFaults = (list: readonly WrittenStep[]): string[] => {
  try {
    parseSteps(list);
  } catch (error) {
    return (error as ConfigurationError).faults.map(({ path, expected }) => `${path}: ${expected}`);
  }
  return [];
};

const expectPartsToSum = ({ names, values, pool, scores, components }: Awaited<ReturnType<typeof compute>>) => {
  const composed = components.get('before selection') ?? scores;
  for (const [n, position] of pool.positions.entries()) {
    const parts = [...values.subarray(n * names.length, (n + 1) * names.length)];
    const sum = parts.reduce((total, part) => total + part, 0);
    if (position >= 0) expect(sum).toBeCloseTo(composed[n] as number, 5);
  }
};

test('a filter before the search and one after it are two steps, without a name', async () => {
  const earlier = 'timestamp <= $query.timestamp';
  const channel = 'channel = $query.channel';
  const options = parseSteps([filter(earlier), { search }, { filter: channel }, { fuse }]);
  expect([options.steps, options.as]).toEqual([['filter', 'search', 'filter-2', 'fuse'], { 'filter-2': 'filter' }]);
  const { outline, steps } = readArm(options);
  expect([outline.view.filter, outline.poolFilters]).toEqual([earlier, [channel]]);
  expect(steps.map(({ name }) => name)).toEqual(['filter', 'search', 'filter-2', 'relevance']);
  const { pool } = await compute([filter(earlier), { search }, { filter: channel }, { fuse }]);
  const once = await compute([{ search }, { filter: channel }, { fuse }]);
  expect(pool.positions).toEqual(once.pool.positions);
});

test('two decays are two parts of a score, each by its name', async () => {
  const one = await compute([...start, { decay: 24 }]);
  const both = await compute([...start, { decay: 24 }, { decay: 480, as: 'slow' }]);
  expect([...both.components.keys()]).toEqual(['flat', 'bm25', 'relevance', 'decay', 'slow']);
  expect(both.names).toEqual(['relevance', 'decay', 'slow']);
  expect(both.components.get('decay')).toEqual(one.components.get('decay'));
  const slow = await compute([...start, { decay: 480 }]);
  expect(both.components.get('slow')).toEqual(slow.components.get('decay'));
  expect(both.keys).toEqual([...one.keys, slow.keys.at(-1)]);
  for (const [i, score] of one.scores.entries())
    expect(both.scores[i]).toBeCloseTo(score * (both.components.get('slow')?.[i] as number), 5);
  expectPartsToSum(both);
});

test('two blends with one component each are told apart, and keep their order', async () => {
  const list = [
    ...start,
    { blend: { rcp: 0.2 } },
    { decay: 24 },
    { blend: { rcp: 0.1, trajectory: 0.3 }, as: 'later' },
  ];
  const blended = await compute(list);
  expect(blended.names).toEqual(['relevance', 'rcp', 'decay', 'later.rcp', 'later.trajectory']);
  expect(blended.components.get('later.rcp')).toEqual(blended.components.get('rcp'));
  expectPartsToSum(blended);
});

test('a selection after a reranking reads its order', async () => {
  const list = [...start, { rerank: { mentions: { k: 11 } } }, { select: { mmr: { k: 5, lambda: 1 } } }];
  const reranked = await compute(list.slice(0, 3));
  const both = await compute(list);
  expect([...both.components.keys()].slice(-2)).toEqual(['before selection', 'before select']);
  expect(both.components.get('before select')).toEqual(reranked.scores);
  expect(both.scores).toEqual(reranked.scores); // by relevance alone nothing moves
  expectPartsToSum(both);
  const third = [...list, { rerank: { mentions: { k: 3 } }, as: 'last' }];
  expect([...(await compute(third)).components.keys()].at(-1)).toBe('before last');
});

test('an arm that is parsed again keeps the names of its steps', () => {
  const options = parseSteps([...start, { decay: 24 }, { decay: 480, as: 'slow' }]);
  const { steps, control, as: names, ...rest } = options;
  const list = steps.map((name) => ({ [names?.[name] ?? name]: rest[name], ...(names?.[name] && { as: name }) }));
  expect(parseSteps(list, control)).toEqual(options);
});

describe('an error is reported for', () => {
  test.each<[string, readonly WrittenStep[], string[]]>([
    [
      'a step twice without a name',
      [...start, { decay: 3 }, { decay: 4 }],
      ['[3]: one decay, which is at [2]; write as: NAME beside this one'],
    ],
    [
      'three rerankings without names',
      [...start, { rerank: 'mentions' }, { rerank: 'mentions' }, { rerank: 'mentions' }],
      ['[4]: one rerank, which is at [3]; write as: NAME beside this one'],
    ],
    ['two searches', [{ search }, { search }], ['[1]: one search in an arm, which is at [0]']],
    [
      'two slices',
      [{ slice: { policy: {} } }, { slice: { policy: {} } }, { search }],
      ['[1]: one slice in an arm, which is at [0]'],
    ],
    ['a search with a name', [{ search, as: 'found' }], ['as.found: a step that may stand twice']],
    [
      'a name of two steps',
      [...start, { decay: 3, as: 'age' }, { decay: 4, as: 'age' }],
      ['[3]: a name that [2] has not'],
    ],
    ['a name of a step', [...start, { decay: 3, as: 'select' }], ['[2].as: a name that no step has']],
    [
      'a name of a component',
      [...start, { decay: 3, as: 'relevance' }],
      ['[2].as: a name that no column and no key of an arm has'],
    ],
    ['a name with a dot', [...start, { decay: 3, as: 'a.b' }], ['[2].as: lower-case letters, digits and hyphens']],
    [
      'a name of a source',
      [{ search: { words: { index: 'bm25' } } }, { decay: 3, as: 'words' }],
      ['words: a name that no source, column or other step has'],
    ],
    [
      'a name of a blend',
      [...start, { decay: 3, as: 'rcp' }, { blend: { rcp: 0.1 } }],
      ['rcp: a name that no source, column or other step has'],
    ],
  ])('%s', (_, list, faults) => expect(listFaults(list)).toEqual(faults));
});
