import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigurationError, InvalidFilterError, UnavailableError, ValidationError } from '../../core/errors/errors.ts';
import { Journal } from '../../core/journal/journal.ts';
import { JOURNAL_START } from '../../core/journal/position.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import type { MemoryRecordInput } from '../../model/turns/turn.ts';
import { openCurator } from '../curation/curator.ts';
import type { Memory } from '../engine/memory.ts';
import { openStore } from '../store/open-store.ts';
import {
  CANARY,
  countCanaries,
  DIMENSION,
  fillSite,
  OPEN_RECORDS,
  openSite,
  SECRET_RECORDS,
  SECRET_TALK,
  withLogs,
} from './canary.fixture.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-removal-'));
const filled = join(root, 'filled');
beforeAll(async () => {
  await useBackend('wasm');
  await fillSite(filled);
});
afterAll(() => rmSync(root, { recursive: true }));

let folders = 0;
function copyFilled(): string {
  const folder = join(root, `copy-${folders++}`);
  cpSync(filled, folder, { recursive: true });
  return folder;
}

async function withSite<T>(folder: string | null, work: (memory: Memory) => Promise<T>): Promise<T> {
  const memory = await openSite(folder);
  try {
    return await work(memory);
  } finally {
    await memory.close();
  }
}

const listIds = (memory: Memory) =>
  Array.from(memory.records(), ({ id }) => id)
    .filter((id) => !id.startsWith('summary:'))
    .sort();
const OPEN_IDS = ['o1', 'o2', 'o3', 'o4', 'reply'];

describe('a conversation that is in records, what was made of them, logs, indexes, snapshot and journal', () => {
  test('is in all of these before, and in no file after, also when the memory was opened and closed again', async () => {
    const folder = copyFilled();
    const before = Object.keys(await countCanaries(folder)).sort();
    expect(before).toEqual([
      'consolidation: UTF-8',
      'curation: UTF-8',
      'curation: vector',
      'facts: UTF-8',
      'indexes/exact: UTF-8',
      'indexes/exact: vector',
      'indexes/graph: UTF-8',
      'indexes/graph: vector',
      'journal: UTF-8',
      'journal: vector',
      'snapshot: UTF-8',
      'snapshot: vector',
    ]);
    await withSite(folder, async (memory) => {
      const { removed, derived, kept, outcomes, logs } = await memory.removeWhere({ conversationId: SECRET_TALK });
      expect(removed).toEqual([...SECRET_RECORDS.map(({ id }) => id), expect.stringMatching(/^summary:/)]);
      expect([derived, kept, outcomes]).toEqual([[{ id: 'fact', memoryType: 'semantic' }], 6, 2]);
      expect(logs).toEqual([
        { log: 'consolidation', entries: 1 },
        { log: 'curation', entries: 4 },
        { log: 'facts', entries: 1 },
        { log: 'retrievals', entries: 2 },
      ]);
      expect(await countCanaries(folder)).toEqual({});
    });
    expect(await countCanaries(folder)).toEqual({});
    await withSite(folder, async (memory) => memory.snapshot());
    expect(await countCanaries(folder)).toEqual({});
    expect(readdirSync(folder).filter((name) => name.startsWith('removal'))).toEqual([]);
  });

  test('leaves what others have: records, decisions that can be undone, events with their numbers, facts', async () => {
    const folder = copyFilled();
    await withSite(folder, async (memory) => {
      await memory.removeWhere({ user: 'ada' });
      expect(memory.get('o1')?.stats.count).toBe(1);
      expect(memory.get('reply')?.parentId).toBeNull();
    });
    await withSite(folder, (memory) =>
      withLogs(memory, folder, async ({ curator, consolidator, retrievals, facts }) => {
        expect([memory.warnings, curator.warnings, consolidator.warnings, retrievals.warnings]).toEqual([
          [],
          [],
          [],
          [],
        ]);
        expect(curator.entries().map(({ id }) => id)).toEqual(['o4']);
        expect(await curator.undo('all')).toBe(1);
        expect(listIds(memory)).toEqual(OPEN_IDS.filter((id) => id !== 'o4'));
        const [first, second] = retrievals.events();
        expect([first?.event, second?.event]).toEqual([1, 3]);
        expect([first?.retrieved, first?.teams, first?.used]).toEqual([[retrievals.hash('memory', 'o1')], ['a'], []]);
        expect(await retrievals.record({ query: 'q', retrieved: ['o1'], strategy: 's', time: 3 })).toBe(4);
        expect(facts.asOf().map(({ id, closedBy }) => [id, closedBy])).toEqual([['f2', null]]);
        await facts.assert({ id: 'f3', source: 'a', target: 'b', relation: 'r', validFrom: 0 }, 4);
      }),
    );
  });

  test('a dry run reports the same and changes no file, also beside a log that is open', async () => {
    const folder = copyFilled();
    const dry = await withSite(folder, async (memory) => {
      const curator = await openCurator(memory, join(folder, 'curation'));
      const report = await memory.removeWhere({ conversationId: SECRET_TALK }, { dryRun: true });
      await expect(memory.removeWhere({ conversationId: SECRET_TALK })).rejects.toThrow(UnavailableError);
      expect(memory.size).toBe(11);
      await curator.close();
      return report;
    });
    expect(await countCanaries(folder)).toEqual(await countCanaries(filled));
    const report = await withSite(folder, (memory) => memory.removeWhere({ conversationId: SECRET_TALK }));
    expect(report).toEqual(dry);
  });

  test('what was removed before one by one is in no file either', async () => {
    const folder = copyFilled();
    await withSite(folder, async (memory) => {
      for (const id of listIds(memory).filter((id) => !OPEN_IDS.includes(id))) await memory.remove(id);
      expect(Object.keys(await countCanaries(folder))).toContain('snapshot: vector');
      const { removed, logs } = await memory.removeWhere({ conversationId: SECRET_TALK });
      expect([removed, logs[1]]).toEqual([[expect.stringMatching(/^summary:/)], { log: 'curation', entries: 4 }]);
    });
    expect(await countCanaries(folder)).toEqual({});
  });
});

test('a summary of several conversations and an earlier version in a log go, the record that is another by now stays', async () => {
  const folder = join(root, 'versions');
  const record = (id: string, more: Partial<MemoryRecordInput>): MemoryRecordInput => {
    return { id, embedding: new Float32Array(DIMENSION).fill(1), context: id, createdAt: 1, ...more };
  };
  await withSite(folder, async (memory) => {
    await memory.addBatch([record('a', { channel: 'x' }), record('b', { channel: 'y' })]);
    const made = { memoryType: 'procedural', episodes: ['a', 'b'] };
    await memory.addBatch([
      record('made', { metadata: made }),
      record('again', { metadata: { ...made, episodes: ['made'] } }),
    ]);
    await memory.add(record('other', { metadata: { episodes: ['a'] } })); // not a kind that is made of others
    const curator = await openCurator(memory, join(folder, 'curation'));
    await curator.curate(record('c', { channel: 'x', embedding: Float32Array.of(-1, 1, 0), context: `old ${CANARY}` }));
    await curator.close();
    await memory.upsert([record('c', { channel: 'y' })]);
    const { removed, derived, logs } = await memory.removeWhere({ filter: "channel = 'x'" });
    expect([removed, derived.map(({ id }) => id), logs]).toEqual([
      ['a'],
      ['made', 'again'],
      [{ log: 'curation', entries: 1 }],
    ]);
    expect(listIds(memory)).toEqual(['b', 'c', 'other']);
    expect(await countCanaries(folder)).toEqual({});
  });
});

test('the judgements that are lost are counted', async () => {
  const judgements = new Map([
    [
      'q1',
      new Map([
        [`${CANARY}-1`, 1],
        ['o1', 2],
        ['o2', 0],
      ]),
    ],
    [
      'q2',
      new Map([
        [`${CANARY}-1`, 1],
        [`${CANARY}-2`, 1],
      ]),
    ],
    [
      'q3',
      new Map([
        ['o1', 1],
        ['unknown', 1],
      ]),
    ],
    ['q4', new Map([[`${CANARY}-3`, 0]])],
  ]);
  await withSite(copyFilled(), async (memory) => {
    const { evidence } = await memory.removeWhere({ user: 'ada' }, { judgements, dryRun: true });
    const counts = { relevant: 5, removed: 3, queries: 3 };
    expect(evidence).toEqual({ ...counts, reducedQueries: ['q1'], lostQueries: ['q2'] });
    expect((await memory.removeWhere({ user: 'nobody' }, { dryRun: true })).evidence).toBeNull();
  });
});

test('conservation before and after is that of the records, weighted by importance; a broken law is a warning', async () => {
  const add = (id: string, x: number, importance: number) => {
    return { id, embedding: Float32Array.of(x, 0, 0), context: id, createdAt: 1, metadata: { importance } };
  };
  await withSite(null, async (memory) => {
    await memory.addBatch([add('light', 1, 0.25), add('heavy', 5, 0.75), add('none', 9, 0)]);
    const heavy = await memory.removeWhere({ filter: "id = 'heavy'" }, { dryRun: true });
    expect(heavy.conservation.before).toMatchObject({ count: 3, magnitude: 4 });
    expect(heavy.conservation.after).toMatchObject({ count: 2, magnitude: 1 });
    expect(heavy.conservation.warnings).toEqual([
      expect.stringMatching(/^magnitude went from 4 to 1, a drift of 0\.75;/),
    ]);
    const { conservation } = await memory.removeWhere({ filter: 'importance > 0' });
    expect([conservation.after, conservation.warnings]).toEqual([null, []]);
    expect(listIds(memory)).toEqual(['none']);
    const last = await memory.removeWhere({ filter: "id = 'none'" });
    expect(last.conservation.after).toMatchObject({ count: 0, magnitude: 0 });
  });
});

test('answers are those of a memory that never had the records, before and after it is opened again', async () => {
  const records = fc.uniqueArray(
    fc.record({
      id: fc.nat(40),
      talk: fc.constantFrom('a', 'b', 'c'),
      x: fc.integer({ min: -9, max: 9 }),
      y: fc.integer({ min: -9, max: 9 }),
    }),
    { selector: ({ id }) => id, minLength: 1, maxLength: 25 },
  );
  await fc.assert(
    fc.asyncProperty(records, fc.nat(24), async (drawn, at) => {
      const all = drawn.map(({ id, talk, x, y }, i): MemoryRecordInput => {
        const embedding = Float32Array.of(x, y, 1);
        return {
          id: `r${id}`,
          embedding,
          context: `${talk} ${id}`,
          createdAt: i,
          conversationId: talk,
          outcome: (x + 9) / 18,
        };
      });
      const kept = all.filter(({ conversationId }) => conversationId !== 'a');
      const folder = join(root, `equal-${folders++}`);
      const ask = async (memory: Memory) => {
        const answers = [];
        for (const embedding of [Float32Array.of(1, 2, 0), Float32Array.of(-3, 1, 1)]) {
          const { latency: _, ...answer } = await memory.query({ embedding, k: 7, filter: "conversationId != 'b'" });
          answers.push(answer, await memory.query({ embedding, k: 40 }).then(({ candidates }) => candidates));
        }
        return [answers, ...memory.records()];
      };
      const expected = await withSite(null, async (memory) => {
        await memory.addBatch(kept);
        return ask(memory);
      });
      await withSite(folder, async (memory) => {
        await memory.addBatch(all.slice(0, at));
        if (at % 2 === 0) await memory.snapshot();
        await memory.addBatch(all.slice(at));
        await ask(memory);
        await memory.removeWhere({ conversationId: 'a' });
        expect(await ask(memory)).toEqual(expected);
      });
      await withSite(folder, async (memory) => expect(await ask(memory)).toEqual(expected));
    }),
    { numRuns: 7, seed: 29 },
  );
});

test('what may not be removed is an error and changes nothing', async () => {
  const folder = copyFilled();
  await withSite(folder, async (memory) => {
    const remove = (selection: object) => memory.removeWhere(selection as { user: string });
    for (const wrong of [{}, { user: '' }, { user: 'ada', conversationId: 'x' }, { conversation: 'x' }])
      await expect(remove(wrong)).rejects.toThrow(ConfigurationError);
    await expect(remove({ filter: 'chanel = 3' })).rejects.toThrow(InvalidFilterError);
    await expect(remove({ filter: 'topic =' })).rejects.toThrow(InvalidFilterError);
    const inner = await openStore(join(folder, 'old'));
    await inner.put([...memory.records()].slice(0, 1));
    await inner.close();
    await expect(remove({ user: 'ada' })).rejects.toThrow(
      /^folder has a journal that is no log of a memory: .*old; move it/,
    );
    rmSync(join(folder, 'old'), { recursive: true });
    const foreign = Journal.open(join(folder, 'inner', 'foreign'));
    await foreign.replay(JOURNAL_START, () => {});
    await foreign.append(Buffer.from('{"kind":"note"}'), () => {});
    await foreign.close();
    await expect(remove({ user: 'ada' })).rejects.toThrow(/^folder has a journal .*inner\/foreign; move it/);
    expect([memory.size, existsSync(join(folder, 'removal'))]).toEqual([11, false]);
  });
  const reader = await openSite(folder, true);
  await expect(reader.removeWhere({ user: 'ada' })).rejects.toThrow(ValidationError);
  await reader.close();
  await expect(reader.removeWhere({ user: 'ada' })).rejects.toThrow(/^memory is closed/);
});

test('records that are added while others are removed stay', async () => {
  const folder = copyFilled();
  await withSite(folder, async (memory) => {
    const removal = memory.removeWhere({ conversationId: SECRET_TALK });
    const adding = memory.add({ ...(OPEN_RECORDS[0] as MemoryRecordInput), id: 'late' });
    await Promise.all([removal, adding, memory.updateStats('o2', 1)]);
    expect(listIds(memory)).toEqual(['late', ...OPEN_IDS].sort());
  });
  await withSite(folder, async (memory) => {
    expect([listIds(memory), memory.get('o2')?.stats.count]).toEqual([['late', ...OPEN_IDS].sort(), 1]);
  });
  expect(await countCanaries(folder)).toEqual({});
});
