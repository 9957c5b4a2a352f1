import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RagPlusPlusError } from '../core/errors/errors.ts';
import { useBackend } from '../core/tensors/backend.ts';
import type { Memory } from '../memory/engine/memory.ts';
import type { MemoryInput } from '../memory/engine/memory-options.ts';
import { openMemory } from '../memory/engine/open-memory.ts';
import { attributesSchema } from '../model/turns/memory-fields.ts';
import { type MemoryRecordInput, toTurn } from '../model/turns/turn.ts';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-accepted-'));
afterAll(() => rmSync(root, { recursive: true }));
beforeAll(() => useBackend('wasm'));
let folders = 0;
const nameFolder = () => join(root, `memory-${folders++}`);

const SAFE = Number.MAX_SAFE_INTEGER;
const MAGNITUDES = [0, 5e-324, 1e-200, 0.5, 1, 1e9, 1e15, SAFE, SAFE + 1, 1e18, 1e19, 1e39, 1e140, 1e141, 1.7e308];
const finite = fc.tuple(fc.constantFrom(...MAGNITUDES), fc.constantFrom(1, -1)).map(([size, sign]) => size * sign || 0);
const small = fc.double({ min: -2, max: 2, noNaN: true }).map((value) => value || 0);
const number = fc.oneof(
  { weight: 25, arbitrary: small },
  { weight: 3, arbitrary: finite },
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY),
);
const KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'then',
  'score',
  'length',
];
const metadata = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...KEYS), fc.oneof(number, fc.constantFrom('text', true))), {
    selector: ([key]) => key,
    maxLength: 3,
  })
  .map((entries) => {
    const made: Record<string, unknown> = {};
    for (const [key, value] of entries)
      Object.defineProperty(made, key, { value, enumerable: true, configurable: true, writable: true });
    return made;
  });
const component = fc.oneof(
  { weight: 30, arbitrary: small },
  fc.constantFrom(0, 1e-45, 1e-30, 1e17, 6e17, 1e18, 1e19, 3e38, Number.NaN),
);
const statistics = fc.record({
  count: fc.constantFrom(0, 1, 2, 3, SAFE, SAFE + 1),
  mean: number,
  m2: number,
  min: fc.option(number),
  max: fc.option(number),
});
/** Statistics that do not contradict themselves: those of one or two outcomes. */
const consistent = fc.tuple(number, number, fc.constantFrom(1, 500_000_000, (SAFE - 1) / 2)).map(([a, b, times]) => {
  const [min, max] = a < b ? [a, b] : [b, a];
  return { count: 2 * times, mean: min / 2 + max / 2, m2: 2 * times * (max / 2 - min / 2) ** 2, min, max };
});
const trajectory = fc.record({
  ...{ depth: number, siblingOrder: number, homogeneity: small, temporal: small, complexity: finite },
});
const record = fc.record(
  {
    embedding: fc
      .tuple(component, component, component)
      .map((values) => Float32Array.from(values, (value) => Math.fround(value) || 0)),
    outcome: fc.option(number),
    createdAt: fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(0, 8.64e15, -8.64e15, 1700000000000.5) },
      fc.constantFrom(8.65e15, 1e300),
    ),
    metadata,
    stats: fc.oneof(statistics, { weight: 5, arbitrary: consistent }),
    trajectory: fc.option(trajectory),
  },
  { requiredKeys: ['embedding', 'createdAt'] },
);

const RERANKERS = [
  null,
  { method: 'outcome' },
  { method: 'recency' },
  { method: 'mmr' },
  {
    method: 'composite',
    of: [
      { weight: 0.5, reranker: { method: 'outcome', pool: 'stats' } },
      { weight: 0.5, reranker: { method: 'mmr' } },
    ],
  },
] as const satisfies readonly MemoryInput['reranker'][];
const INDEXES = {
  cosine: { index: 'flat', distance: 'cosine' },
  l2: { index: 'flat', distance: 'l2' },
  product: { index: 'hnsw', distance: 'inner-product' },
} as const;

/** Reads everything of a memory in every way; none may fail. */
async function readAll(memory: Memory): Promise<unknown> {
  const records = [...memory.records()];
  for (const [i, { id, embedding }] of records.entries()) {
    for (const name of [...memory.indexNames, undefined])
      for (const pool of ['outcome', 'stats', 'both'] as const) {
        const { candidates, prior } = await memory.query({
          ...{ embedding, pool, k: 50, weighted: i % 2 === 0 },
          ...(name === undefined ? {} : { indexNames: [name] }),
          ...(i % 3 === 0
            ? { trajectory: { depth: 1e18, siblingOrder: -1e18, homogeneity: 0, temporal: 1, complexity: 1 } }
            : {}),
        });
        for (const { score } of candidates) expect(score).toSatisfy(Number.isFinite);
        for (const figure of [prior.mean, prior.variance, ...(prior.interval ?? [])])
          if (figure !== null) expect(figure).toSatisfy(Number.isFinite);
      }
    const filter = `id = '${id}' and (outcome >= 0 or not outcome >= 0) and (exists \`constructor\` or id != '')`;
    await memory.query({ embedding, filter, asOf: 8.64e15 });
    expect(attributesSchema.safeParse(toTurn(memory.get(id) as never).attributes ?? {}).error).toBeUndefined();
  }
  memory.computePriors(records);
  return records;
}

/** Adds a record and outcomes; what is refused is an error that names the record. @returns whether it was added. */
async function tryToAdd(memory: Memory, given: MemoryRecordInput, outcomes: readonly number[]): Promise<boolean> {
  const named = expect.stringContaining(given.id);
  try {
    await memory.add(given);
  } catch (error) {
    expect(error).toBeInstanceOf(RagPlusPlusError);
    expect((error as Error).message).toEqual(named);
    return false;
  }
  for (const outcome of outcomes)
    await memory.updateStats(given.id, outcome).catch((error) => {
      expect(error).toBeInstanceOf(RagPlusPlusError);
      expect((error as Error).message).toEqual(named);
    });
  return true;
}

test('whatever is accepted is kept and can be read in every way, also after import', async () => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(record, fc.array(number, { maxLength: 3 })), { minLength: 3, maxLength: 9 }),
      fc.constantFrom(...RERANKERS),
      fc.constantFrom('jsonl', 'parquet', 'safetensors'),
      async (drawn, reranker, ending) => {
        const folder = nameFolder();
        const options = { folder, dimension: 3, indexes: INDEXES, fsync: 'never', timeoutMs: 60_000 } as const;
        let memory = await openMemory(options);
        for (const [i, [fields, outcomes]] of drawn.entries()) {
          const given = { id: `record-${i}`, context: 'text', ...fields } as MemoryRecordInput;
          if (!(await tryToAdd(memory, given, outcomes))) continue;
          accepted++;
          const { metadata: kept, outcome } = memory.get(given.id) as MemoryRecordInput;
          expect(Object.entries(kept ?? {})).toEqual(Object.entries(given.metadata ?? {}));
          expect(outcome).toBe(given.outcome ?? null);
        }
        const before = await readAll(memory);
        await memory.snapshot();
        await memory.close();
        memory = await openMemory({ ...options, reranker: reranker as MemoryInput['reranker'] });
        expect(await readAll(memory)).toEqual(before);
        await memory.close();
        if (memory.size === 0) return;
        writeFileSync(join(folder, 'memory.json'), '{"dimension":3}');
        const file = `${folder}.${ending}`;
        expect(await runRagpp('memory', 'export', folder, file)).toMatchObject({ code: 0 });
        expect(await runRagpp('memory', 'import', `${folder}-again`, file)).toMatchObject({ code: 0 });
        const again = await openMemory({ folder: `${folder}-again`, dimension: 3 });
        expect([...again.records()]).toEqual(before);
        await again.close();
        expect(await runRagpp('memory', 'stats', folder)).toMatchObject({ code: 0 });
      },
    ),
    { numRuns: 25, endOnFailure: true },
  );
  expect(accepted).toBeGreaterThan(45);
});

test.each([
  ['an outcome', { outcome: 1e141 }, 'outcome: expected number <= 9007199254740991, got 1e+141'],
  [
    'a coordinate',
    { trajectory: { depth: 1e19, siblingOrder: 0, homogeneity: 0, temporal: 0, complexity: 0 } },
    'depth',
  ],
  ['a count', { stats: { count: 2 ** 53, mean: 0, m2: 0, min: 0, max: 0 } }, 'stats.count'],
  ['statistics', { stats: { count: 1, mean: 5, m2: 0, min: 0, max: 1 } }, 'do not contradict themselves'],
  ['a number', { metadata: { size: 1e16 } }, 'metadata.size'],
  ['a key', { metadata: JSON.parse('{"__proto__": "x", "a": 1}') }, 'metadata: expected keys other than __proto__'],
])('%s that cannot be read again is refused at the door, by memory and by import', async (_, fields, message) => {
  const row = { id: 'r1', context: 'text', createdAt: 0, ...fields };
  const memory = await openMemory({ dimension: 2 });
  await expect(memory.add({ ...row, embedding: Float32Array.of(1, 0) })).rejects.toThrow(message);
  expect(memory.size).toBe(0);
  await memory.close();
  const file = join(root, 'refused.jsonl');
  const json = JSON.stringify({ ...row, embedding: [1, 0] });
  writeFileSync(file, json);
  expect(readFileSync(file, 'utf8').includes('__proto__')).toBe(message.includes('__proto__'));
  const imported = await runRagpp('memory', 'import', nameFolder(), file);
  expect([imported.code, imported.stderr]).toEqual([1, expect.stringContaining(message)]);
});

test('keys of the prototype of objects are kept', async () => {
  const kept = { constructor: 'a', prototype: 'b', toString: 'c', hasOwnProperty: true, valueOf: 4 };
  const memory = await openMemory({ dimension: 2 });
  await memory.add({
    id: 'r1',
    context: 'text',
    createdAt: 0,
    embedding: Float32Array.of(1, 0),
    metadata: kept as never,
  });
  expect(Object.entries(memory.get('r1')?.metadata ?? {})).toEqual(Object.entries(kept));
  const find = (filter: string) => memory.query({ embedding: Float32Array.of(1, 0), filter });
  expect((await find("`constructor` = 'a' and `valueOf` = 4")).candidates).toHaveLength(1);
  expect((await find('exists `isPrototypeOf`')).candidates).toHaveLength(0);
  await memory.close();
});

test('a Parquet column of the name __proto__ is refused', async () => {
  const file = join(root, 'proto.parquet');
  const columnData = ['id', 'context', '__proto__'].map((name) => ({ name, data: ['x'], type: 'STRING' as const }));
  const times = { name: 'createdAt', data: [1], type: 'DOUBLE' as const };
  writeFileSync(file, new Uint8Array(parquetWriteBuffer({ columnData: [...columnData, times] })));
  const { code, stderr } = await runRagpp('memory', 'import', nameFolder(), file);
  expect([code, stderr]).toEqual([1, expect.stringContaining('column is named __proto__')]);
});
