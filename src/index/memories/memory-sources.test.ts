import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import type { MemoryQuestion, QueryBatch } from '../../model/candidates.ts';
import { createIndex, type IndexInput, indexOptions } from '../registry.ts';
import { DAY, MEMORY_IDS, memoryCorpus, memoryVectors } from './memories.fixture.ts';

beforeAll(() => useBackend('cpu'));

const NOTHING: MemoryQuestion = { entities: [], window: null, procedural: false };
const entities = memoryCorpus.turns.map(({ attributes }) => (attributes?.entities as string[] | undefined) ?? []);

async function find(options: IndexInput, asked: Partial<MemoryQuestion>, changes: Partial<QueryBatch> = {}) {
  const index = await createIndex(options, { corpus: memoryCorpus, vectors: memoryVectors, entities });
  const batch: QueryBatch = {
    ...{ texts: ['x'], vectors: Float32Array.of(1, 0), cutoffs: Int32Array.of(memoryCorpus.size) },
    ...{ asked: [{ ...NOTHING, ...asked }], ...changes },
  };
  const { positions, scores } = await index.search(batch, 5);
  index.dispose();
  expect([...scores].filter((score) => score !== 0).length).toBe([...positions].filter((at) => at >= 0).length);
  return [...positions].flatMap((position) => (position < 0 ? [] : [MEMORY_IDS[position]]));
}

test('the limits are those of the design', () => {
  const limits = ['semantic', 'entities', 'time', 'procedural', 'summaries'].map((index) => {
    const { k, filter, minCosine } = indexOptions.parse({ index }) as never;
    return [k, filter, minCosine];
  });
  expect(limits).toEqual([
    [50, null, 0.5],
    [30, null, undefined],
    [30, null, undefined],
    [20, null, undefined],
    [5, null, undefined],
  ]);
});

describe('the source', () => {
  test('semantic finds what is near enough, and nothing that is superseded', async () => {
    const index = 'semantic' as const;
    expect(await find({ index }, {})).toEqual(['visit', 'rush', 'fact', 'session', 'global']);
    expect(await find({ index, minCosine: 0.9 }, {})).toEqual(['visit', 'rush', 'fact']);
    expect(await find({ index }, {}, { cutoffs: Int32Array.of(3) })).toEqual(['visit', 'fact']);
  });

  test('entities orders by matches, then importance, then the newest', async () => {
    const index = 'entities' as const;
    expect(await find({ index }, { entities: ['acme', 'kai', 'acme'] })).toEqual(['visit', 'fact', 'call']);
    expect(await find({ index }, { entities: ['acme'] })).toEqual(['fact', 'call', 'visit']);
    expect(await find({ index }, {})).toEqual([]);
    const visible = [Int32Array.of(0, 1, 7)];
    expect(await find({ index }, { entities: ['acme'] }, { visible })).toEqual(['call', 'visit']);
  });

  test('time finds the window with both of its ends', async () => {
    const window = { start: 2 * DAY, end: 4 * DAY };
    expect(await find({ index: 'time' }, { window })).toEqual(['returns', 'rush', 'fact']);
    expect(await find({ index: 'time' }, { window }, { cutoffs: Int32Array.of(4) })).toEqual(['rush', 'fact']);
    expect(await find({ index: 'time' }, { window: { start: 0, end: DAY } })).toEqual(['visit']);
    expect(await find({ index: 'time' }, {})).toEqual([]);
  });

  test('procedural finds procedures for a question about a process alone', async () => {
    expect(await find({ index: 'procedural' }, { procedural: true })).toEqual(['rush', 'returns']);
    expect(await find({ index: 'procedural' }, {})).toEqual([]);
  });

  test('summaries finds those of sessions for a time, and global ones else', async () => {
    expect(await find({ index: 'summaries' }, {})).toEqual(['both', 'global']);
    expect(await find({ index: 'summaries' }, { window: { start: 0, end: 1 } })).toEqual(['both', 'session']);
  });

  test.each(['entities', 'time', 'procedural', 'summaries'] as const)(
    '%s refuses a batch that does not say what is asked',
    async (index) => {
      await expect(find({ index }, {}, { asked: undefined as never })).rejects.toThrow('pass `asked`');
      await expect(find({ index }, {}, { asked: [] })).rejects.toThrow('questions of a query batch');
    },
  );
});
