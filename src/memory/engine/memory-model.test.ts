import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { drawRecords, INDEXES, QUERY } from './memory.fixture.ts';
import type { Memory } from './memory.ts';
import { openMemory } from './open-memory.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-model-'));
afterAll(() => rmSync(root, { recursive: true }));
let folders = 0;

const POOL = drawRecords(12);
type Drawn = (typeof POOL)[number];
const pick = (place: number) => POOL[place] as Drawn;

/** What a memory should hold: by id the record as written, and its later outcomes. */
type Expected = Map<string, { readonly record: Drawn; readonly observed: readonly number[] }>;

/** An operation on a memory; `apply` is what it does to the expected records, null where it is refused. */
interface Step {
  readonly run: (memory: Memory) => Promise<unknown>;
  readonly apply: (expected: Expected) => Expected | null;
}

const step = fc.oneof(
  fc.nat(11).map((place): Step => {
    const record = pick(place);
    return {
      run: (memory) => memory.add(record),
      apply: (expected) =>
        expected.has(record.id) ? null : new Map([...expected, [record.id, { record, observed: [] }]]),
    };
  }),
  fc.uniqueArray(fc.nat(11), { maxLength: 4 }).map((places): Step => {
    const records = places.map((place) => ({ ...pick(place), embedding: pick((place + 5) % 12).embedding }));
    return {
      run: (memory) => memory.upsert(records),
      apply: (expected) =>
        new Map([...expected, ...records.map((record) => [record.id, { record, observed: [] }] as const)]),
    };
  }),
  fc.nat(11).map((place): Step => {
    const { id } = pick(place);
    return {
      run: (memory) => memory.remove(id),
      apply: (expected) => new Map([...expected].filter(([known]) => known !== id)),
    };
  }),
  fc.tuple(fc.nat(11), fc.integer({ min: -3, max: 3 })).map(([place, outcome]): Step => {
    const { id } = pick(place);
    return {
      run: (memory) => memory.updateStats(id, outcome),
      apply: (expected) => {
        const known = expected.get(id);
        return known === undefined
          ? null
          : new Map([...expected, [id, { ...known, observed: [...known.observed, outcome] }]]);
      },
    };
  }),
);
/** Steps that are started at once, and what follows them. */
const round = fc.tuple(fc.array(step, { minLength: 1, maxLength: 5 }), fc.constantFrom('', 'snapshot', 'reopen'));

async function compare(memory: Memory, expected: Expected): Promise<void> {
  const held = Array.from(memory.records(), ({ id, embedding, stats }) => [id, embedding, stats.count] as const);
  const wanted = [...expected].map(([id, { record, observed }]) => [id, record.embedding, observed.length] as const);
  const byId = (a: readonly unknown[], b: readonly unknown[]) => (String(a[0]) < String(b[0]) ? -1 : 1);
  expect(held.sort(byId)).toEqual(wanted.sort(byId));
  for (const [id, { observed }] of expected) {
    const sum = observed.reduce((total, value) => total + value, 0);
    expect((memory.getStats(id)?.mean ?? Number.NaN) * observed.length).toBeCloseTo(sum, 9);
  }
  const best = [...expected]
    .map(([id, { record }]) => ({
      id,
      score: record.embedding.reduce((sum, value, i) => sum + value * (QUERY[i] as number), 0),
    }))
    .sort((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1))
    .map(({ id }) => id);
  for (const name of ['exact', 'graph'])
    expect((await memory.search(name, QUERY, 20)).map(({ id }) => id)).toEqual(best);
}

test('INV-004: after any operations at once, snapshots and reopenings, memory and indexes hold what was acknowledged', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(round, { minLength: 1, maxLength: 6 }),
      fc.constantFrom(null, 500),
      async (rounds, snapshotBytes) => {
        const folder = join(root, String(folders++));
        const open = () => openMemory({ folder, dimension: 8, indexes: INDEXES, snapshotBytes, fsync: 'never' });
        let memory = await open();
        let expected: Expected = new Map();
        for (const [steps, end] of rounds) {
          const results = await Promise.allSettled(steps.map(({ run }) => run(memory)));
          for (const [i, { apply }] of steps.entries()) {
            const next = apply(expected);
            expect(results[i]?.status).toBe(next === null ? 'rejected' : 'fulfilled');
            expected = next ?? expected;
          }
          if (end === 'snapshot') await memory.snapshot();
          if (end === 'reopen') {
            await memory.close();
            memory = await open();
          }
          await compare(memory, expected);
        }
        await memory.close();
      },
    ),
    { numRuns: 17 },
  );
});
