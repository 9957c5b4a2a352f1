import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { openStore } from '../store/open-store.ts';
import { INDEXES, openFilled, QUERY, RECORDS } from './memory.fixture.ts';
import { openMemory } from './open-memory.ts';

const folders: string[] = [];
function makeTestFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'memory-'));
  folders.push(folder);
  return folder;
}
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

describe('a folder', () => {
  test.each(['with a snapshot', 'without one'])('opens as it was closed, %s', async (kind) => {
    const folder = makeTestFolder();
    const first = await openFilled({ folder, indexes: INDEXES }, 40);
    if (kind === 'with a snapshot') await first.snapshot();
    await first.addBatch(RECORDS.slice(40));
    await first.remove('r3');
    await first.updateStats('r4', 0.5);
    const before = await first.query({ embedding: QUERY, k: 60 });
    await first.close();
    const second = await openMemory({ folder, dimension: 8, indexes: INDEXES });
    expect({ ...(await second.query({ embedding: QUERY, k: 60 })), latency: 0 }).toEqual({ ...before, latency: 0 });
    expect(second.getStats('r4')).toMatchObject({ count: 1 });
    await second.close();
  });

  test('whose process died has the changes since its indexes were saved', async () => {
    const folder = makeTestFolder();
    const first = await openFilled({ folder, indexes: INDEXES }, 40);
    await first.snapshot();
    await first.close();
    const store = await openStore(folder); // writes that no index saw
    await store.put(RECORDS.slice(40));
    await store.remove(['r3']);
    await store.close();
    const second = await openMemory({ folder, dimension: 8, indexes: INDEXES });
    const held = Array.from(second.records(), ({ id }) => id).sort();
    for (const name of ['exact', 'graph'])
      expect((await second.search(name, QUERY, 100)).map(({ id }) => id).sort()).toEqual(held);
    await second.close();
  });

  test.each(['a byte of its rows is changed', 'its rows are gone', 'it is of another store'])(
    'whose index cannot be used, because %s, builds it again',
    async (fault) => {
      const folder = makeTestFolder();
      await (await openFilled({ folder, indexes: INDEXES })).close();
      const own = join(folder, 'indexes', 'exact');
      const rows = join(own, readdirSync(own).find((name) => name.startsWith('rows-')) as string);
      const vectors = join(rows, readdirSync(rows).find((name) => name.startsWith('vectors-')) as string);
      if (fault === 'its rows are gone') rmSync(rows, { recursive: true });
      else if (fault === 'it is of another store') {
        for (const name of readdirSync(folder)) if (name.endsWith('.journal')) rmSync(join(folder, name));
        const store = await openStore(folder);
        for (const record of RECORDS.slice(0, 20)) await store.put([{ ...record, id: `new-${record.id}` }]);
        await store.close();
      } else {
        const bytes = readFileSync(vectors);
        bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
        writeFileSync(vectors, bytes);
      }
      const second = await openMemory({ folder, dimension: 8, indexes: INDEXES });
      const held = Array.from(second.records(), ({ id }) => id).sort();
      for (const name of ['exact', 'graph'])
        expect((await second.search(name, QUERY, 100)).map(({ id }) => id).sort()).toEqual(held);
      await second.close();
    },
  );

  test('with other options of an index, or a state that cannot be read, builds it again', async () => {
    const folder = makeTestFolder();
    await (await openFilled({ folder, indexes: INDEXES })).close();
    const indexes = { exact: { index: 'hnsw' }, graph: INDEXES.graph } as const;
    writeFileSync(join(folder, 'indexes', 'graph', 'state.json'), 'x');
    const second = await openMemory({ folder, dimension: 8, indexes });
    for (const name of ['exact', 'graph']) expect(await second.search(name, QUERY, 100)).toHaveLength(60);
    await second.close();
  });
});
