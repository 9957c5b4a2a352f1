import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { bindFilter } from '../../model/filter/compile-filter.ts';
import { readFilter } from '../../model/filter/filter-schema.ts';
import type { MemoryRecordInput } from '../../model/turns/turn.ts';
import type { Memory } from '../engine/memory.ts';
import { openStore } from '../store/open-store.ts';
import { stageRemoval } from '../store/removal.ts';
import { CANARY, countCanaries, DIMENSION, fillSite, openSite, SECRET_RECORDS, SECRET_TALK } from './canary.fixture.ts';
import { planRemoval } from './selection.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-forgotten-history-'));
const filled = join(root, 'filled');
beforeAll(async () => {
  await useBackend('wasm');
  await fillSite(filled, true);
});
afterAll(() => rmSync(root, { recursive: true }));

function copyFilled(): string {
  const folder = mkdtempSync(join(root, 'copy-'));
  cpSync(filled, folder, { recursive: true });
  return folder;
}

/** The ids after each change, and whether something of the records has the canary. */
async function listMoments(memory: Memory) {
  const moments: { readonly ids: readonly string[]; readonly isSecret: boolean }[] = [];
  for (let sequence = 0; sequence <= memory.sequence; sequence++) {
    const then = await memory.at({ sequence });
    const records = [...then.records()];
    const isSecret = JSON.stringify(records).includes(CANARY);
    moments.push({ ids: records.map(({ id }) => id), isSecret });
    await then.close();
  }
  return moments;
}

const isSecret = ({ isSecret }: { readonly isSecret: boolean }) => isSecret;

test('a conversation is in no moment and in no file after, also of records that were removed or replaced before', async () => {
  const folder = copyFilled();
  const memory = await openSite(folder);
  await memory.remove(`${CANARY}-2`);
  await memory.remove('fact');
  const before = await listMoments(memory);
  expect(before.filter(isSecret).length).toBeGreaterThan(5);
  expect(Object.keys(await countCanaries(folder))).toContain('snapshot: vector');
  const { removed } = await memory.removeWhere({ conversationId: SECRET_TALK });
  expect(await countCanaries(folder)).toEqual({});
  const after = await listMoments(memory);
  expect(after.filter(isSecret)).toEqual([]);
  const gone = new Set([...removed, `${CANARY}-2`, 'fact']);
  const left = before.map(({ ids }) => ids.filter((id) => !gone.has(id)));
  expect(after.slice(0, before.length).map(({ ids }) => ids)).toEqual(left);
  await memory.close();
  const again = await openSite(folder);
  expect(await listMoments(again)).toEqual(after);
  await again.close();
  expect(await countCanaries(folder)).toEqual({});
});

test('earlier versions that the selection fits, or that were made of what goes, leave a record that is another by now', async () => {
  const folder = join(root, 'versions');
  const memory = await openSite(folder, false, true);
  const record = (id: string, more: Partial<MemoryRecordInput>): MemoryRecordInput => {
    return { id, embedding: new Float32Array(DIMENSION).fill(1), context: id, createdAt: 1, ...more };
  };
  const secret = { context: CANARY, channel: 'x' };
  const made = { memoryType: 'summary', episodes: ['a'] };
  await memory.addBatch([record('a', secret), record('b', secret), record('c', { context: CANARY, metadata: made })]);
  await memory.addBatch([record('d', { context: CANARY, metadata: { memoryType: 'semantic', source: 'c' } })]);
  await memory.upsert([record('b', {}), record('d', { metadata: { supersededBy: 'a' } })]);
  await memory.remove('c');
  await memory.upsert([record('d', {})]);
  const { removed, derived } = await memory.removeWhere({ filter: "channel = 'x'" });
  expect([removed, derived]).toEqual([['a'], []]);
  expect((await listMoments(memory)).map(({ ids }) => ids.join(' '))).toEqual(['', '', '', 'b d', 'b d', 'b d', 'b d']);
  const then = await memory.at({ sequence: 3 });
  expect(then.get('d')?.metadata).toEqual({});
  await then.close();
  expect(await countCanaries(folder)).toEqual({});
  await memory.close();
});

test('a removal that was killed after it was decided takes the versions too', async () => {
  const folder = copyFilled();
  const store = await openStore(folder);
  await store.put([{ ...(SECRET_RECORDS[0] as MemoryRecordInput), id: 'o1', conversationId: SECRET_TALK }], {
    replace: true,
  });
  await store.put([{ ...(store.at({ sequence: 1 }).get('o1') as MemoryRecordInput) }], { replace: true });
  const filter = bindFilter(readFilter({ op: '=', field: 'conversationId', value: SECRET_TALK }));
  const plan = planRemoval(() => store.records(), [], filter, store.pastVersions);
  expect(plan.versions).toEqual([['o1', store.sequence - 1]]);
  await stageRemoval(folder, plan, [], async () => {});
  await store.close();
  const memory = await openSite(folder);
  expect((await listMoments(memory)).filter(isSecret)).toEqual([]);
  expect(
    Object.keys(await countCanaries(folder)).filter((place) => /^(?:snapshot|journal|indexes)/.test(place)),
  ).toEqual([]);
  await memory.close();
});

test('a dry run leaves the history as it is', async () => {
  const memory = await openSite(copyFilled());
  const before = await listMoments(memory);
  await memory.removeWhere({ conversationId: SECRET_TALK }, { dryRun: true });
  expect(await listMoments(memory)).toEqual(before);
  await memory.close();
});
