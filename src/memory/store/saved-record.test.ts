import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openStore } from './open-store.ts';
import { listSavedRecords } from './saved-record.ts';

const IDS = ['a', 'a "quoted"', 'back\\slash', 'ключ', '\u{1f511}', 'line\nfeed', '{"id":"b"}', '\\'];

test('records of lines have the id and the vector of their line, wherever the id is in it', () => {
  const heads = IDS.map((id, i) => (i % 3 === 2 ? { context: 'id":"x"', id } : { id, context: `text ${i}` }));
  const vectors = Float32Array.from({ length: 3 * IDS.length }, (_, i) => i);
  const lines = Buffer.from(heads.map((head) => `${JSON.stringify(head)}\n`).join(''));
  for (const bytes of [lines, lines.subarray(0, -1)]) {
    const records = listSavedRecords(bytes, vectors);
    expect(records.map(({ id }) => id)).toEqual(IDS);
    expect(records.map((record) => record.read())).toEqual(
      heads.map((head, row) => ({ ...head, embedding: vectors.subarray(3 * row, 3 * row + 3) })),
    );
  }
  expect(listSavedRecords(Buffer.alloc(0), new Float32Array(0))).toEqual([]);
});

test('opening a snapshot decodes no record; each is decoded once, and attributes and times are those of all', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'store-'));
  const store = await openStore(folder);
  const embedding = Float32Array.of(1, 2);
  const make = (i: number) => ({ embedding, context: 'text', createdAt: i, metadata: { [`name${i % 3}`]: i } });
  await store.put(Array.from({ length: 211 }, (_, i) => ({ id: `record-${i}`, ...make(i) })));
  await store.snapshot();
  const [all, attributes] = [[...store.records()], new Map(store.attributes)];
  await store.close();

  const parse = vi.spyOn(JSON, 'parse');
  const countLines = () => parse.mock.calls.filter(([text]) => String(text).startsWith('{"id":"record-')).length;
  const opened = await openStore(folder);
  expect([opened.size, opened.has('record-7'), opened.has('record-211')]).toEqual([211, true, false]);
  expect(countLines()).toBeLessThanOrEqual(2);
  await opened.put([{ id: 'later', ...make(500) }]);
  await opened.remove(['later', 'record-210']);
  expect([opened.newestTime, opened.get('record-7')]).toEqual([209, all[7]]);
  expect(opened.attributes).toEqual(attributes.set('name0', 70));
  expect([...opened.records()]).toEqual(all.slice(0, 210));
  expect(countLines()).toBe(211);
  parse.mockRestore();
  await opened.close();
});
