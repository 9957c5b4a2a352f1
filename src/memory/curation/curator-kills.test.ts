import { mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { listSegments } from '../../core/journal/segments.ts';
import type { Memory } from '../engine/memory.ts';
import { openMemory } from '../engine/open-memory.ts';
import { encodeHead, joinVectors } from '../store/operation.ts';
import { type Curator, openCurator } from './curator.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-curation-kills-'));
afterAll(() => rmSync(root, { recursive: true }));

const TEXTS = [
  'Ada lives in London',
  'Ada lives in London near the river',
  'Ada no longer lives in London',
  'The deploy takes 7 minutes',
  'The deploy takes 9 minutes',
];
const createRecord = (id: string, text: number) => ({
  id,
  embedding: text < 3 ? Float32Array.of(1, text / 50) : Float32Array.of(text / 50, -1),
  context: TEXTS[text] as string,
  createdAt: text,
});

/** Cuts the last byte of a journal, as a process that is killed while it writes its last entry leaves it. */
function tearLastEntry(folder: string): void {
  const { path } = listSegments(folder).at(-1) as { path: string };
  truncateSync(path, readFileSync(path).byteLength - 1);
}

/** Bytes of all records: heads as lines, then vectors. */
function listBytes(memory: Memory): string {
  const records = [...memory.records()];
  return records.map(encodeHead).join('\n') + Buffer.from(joinVectors(records).buffer).toString('hex');
}

/** A memory and its curator in a folder, which can be opened again. */
class Site {
  readonly #folder: string;
  memory!: Memory;
  curator!: Curator;

  constructor(folder: string) {
    this.#folder = folder;
  }

  get log(): string {
    return join(this.#folder, 'curation');
  }

  async open(): Promise<void> {
    this.memory = await openMemory({ folder: this.#folder, dimension: 2, fsync: 'never' });
    this.curator = await openCurator(this.memory, this.log, {}, { fsync: 'never' });
  }

  async close(): Promise<void> {
    await this.curator.close();
    await this.memory.close();
  }

  /** Ends as a process does that was killed after it logged its last decision: with or without what the decision does. */
  async kill(isDone: boolean): Promise<void> {
    const last = this.curator.entries().at(-1);
    await this.close();
    tearLastEntry(this.log); // it says that the decision was done
    if (!isDone && last !== undefined && last.changes.length > 0) tearLastEntry(this.#folder);
  }
}

const step = fc.record({
  text: fc.nat(TEXTS.length - 1),
  ending: fc.constantFrom('go on', 'open again', 'killed after', 'killed between'),
});

test('undoing all restores every byte, whether the process ended or was killed between decisions', async () => {
  let folders = 0;
  const operations = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      const site = new Site(join(root, `${folders++}`));
      await site.open();
      await site.memory.addBatch([createRecord('first', 0), createRecord('second', 3)]);
      const before = listBytes(site.memory);
      for (const [i, { text, ending }] of steps.entries()) {
        operations.add((await site.curator.curate(createRecord(`r${i}`, text))).operation);
        const after = listBytes(site.memory);
        if (ending === 'go on') continue;
        await (ending === 'open again' ? site.close() : site.kill(ending === 'killed after'));
        await site.open();
        expect(listBytes(site.memory)).toBe(after);
      }
      expect(await site.curator.undo('all')).toBe(steps.length);
      expect(listBytes(site.memory)).toBe(before);
      await site.close();
      await site.open();
      expect([listBytes(site.memory), site.curator.entries()]).toEqual([before, []]);
      await site.close();
    }),
    { numRuns: 25, seed: 17 },
  );
  expect([...operations].sort()).toEqual(['add', 'delete', 'noop', 'update']);
});

test('an undoing that was cut off is finished when the log is opened', async () => {
  const site = new Site(join(root, 'undo'));
  await site.open();
  await site.memory.add(createRecord('first', 0));
  const before = listBytes(site.memory);
  await site.curator.curate(createRecord('correction', 2));
  expect(site.memory.get('first')?.metadata).toEqual({
    importance: 0.3,
    status: 'superseded',
    supersededBy: 'correction',
  });
  await site.curator.undo();
  await site.close();
  tearLastEntry(site.log); // it says that the undoing was done
  tearLastEntry(join(root, 'undo')); // the removal of the correction; the tombstone is a record again
  await site.open();
  expect([listBytes(site.memory), site.curator.entries()]).toEqual([before, []]);
  await site.close();
});
