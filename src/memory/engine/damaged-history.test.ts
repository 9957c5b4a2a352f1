import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { WalCorruptedError } from '../../core/errors/errors.ts';
import { listSegments } from '../../core/journal/segments.ts';
import { DIMENSION, drawSteps, drawVector, listHeld, runStep } from './damage-steps.fixture.ts';
import { findStrayAnswer } from './flat-scan.oracle.ts';
import type { Memory } from './memory.ts';
import { openMemory } from './open-memory.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-history-'));
afterAll(() => rmSync(root, { recursive: true }));
let folders = 0;

const INDEXES = { exact: { index: 'flat' }, graph: { index: 'hnsw' } } as const;
const open = (folder: string) => openMemory({ folder, dimension: DIMENSION, indexes: INDEXES });

/** A folder as a process that is killed leaves it. The memory goes on in its own. */
function leaveKilled(folder: string): string {
  const left = join(root, String(folders++));
  cpSync(folder, left, { recursive: true });
  rmSync(join(left, 'lock'));
  return left;
}

/** Faults of a folder between two processes. `share` is where in the last segment. */
const DAMAGES: Readonly<Record<string, (folder: string, share: number) => void>> = {
  nothing: () => {},
  'a cut': (folder, share) => {
    const path = listSegments(folder).at(-1)?.path as string;
    truncateSync(path, Math.floor(share * readFileSync(path).byteLength));
  },
  'a changed byte': (folder, share) => {
    const path = listSegments(folder).at(-1)?.path as string;
    const bytes = readFileSync(path);
    const at = Math.floor(share * bytes.byteLength);
    if (bytes.byteLength > 0) bytes[at] = (bytes[at] as number) ^ 1;
    writeFileSync(path, bytes);
  },
  'a lost segment': (folder) => rmSync(listSegments(folder).at(-1)?.path as string),
  'lost indexes': (folder) => rmSync(join(folder, 'indexes'), { recursive: true, force: true }),
  'a lost end': (folder) => rmSync(join(folder, 'end')),
};

const session = fc.record({
  steps: fc.integer({ min: 0, max: 13 }),
  seed: fc.nat(1000),
  work: fc.constantFrom('', 'snapshot'),
  end: fc.constantFrom('close', 'kill', 'kill'),
  damage: fc.constantFrom(...Object.keys(DAMAGES), 'a cut', 'old indexes'),
  share: fc.double({ min: 0, max: 0.999, noNaN: true }),
});
type Session = typeof session extends fc.Arbitrary<infer S> ? S : never;

/** Lets a process work on a folder and end. @returns the folder that it leaves. */
async function work(memory: Memory, folder: string, { steps, seed, work: extra, end }: Session): Promise<string> {
  const drawn = drawSteps(listHeld(memory), steps, seed);
  await Promise.all(drawn.slice(0, 5).map((step) => runStep(memory, step)));
  if (extra === 'snapshot') await memory.snapshot();
  await Promise.all(drawn.slice(5).map((step) => runStep(memory, step)));
  const left = end === 'kill' ? leaveKilled(folder) : folder;
  await memory.close();
  return left;
}

test('what each saved index finds is what a scan of the records finds, after any history of writes, kills and damage', async () => {
  let damaged = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(session, { minLength: 2, maxLength: 5 }), async (sessions) => {
      let folder = join(root, String(folders++));
      const old = join(root, `indexes-${folders++}`);
      const seen = new Set<string>();
      for (const each of sessions) {
        const memory = await open(folder).catch((error: unknown) => error);
        if (memory instanceof WalCorruptedError) return; // nothing is found in what is not opened
        if (!('size' in (memory as Memory))) throw memory;
        for (const { context } of (memory as Memory).records()) seen.add(context);
        const queries = [...seen].map(drawVector);
        const stray = await findStrayAnswer(memory as Memory, queries);
        folder = await work(memory as Memory, folder, each);
        expect(stray).toBeNull();
        if (each.damage === 'old indexes' && existsSync(old))
          cpSync(old, join(folder, 'indexes'), { recursive: true, force: true });
        else if (existsSync(join(folder, 'indexes'))) cpSync(join(folder, 'indexes'), old, { recursive: true });
        DAMAGES[each.damage]?.(folder, each.share);
        damaged += Number(each.damage !== 'nothing');
      }
      const last = await open(folder).catch((error: unknown) => error);
      if (last instanceof WalCorruptedError) return;
      const stray = await findStrayAnswer(last as Memory, [...seen].map(drawVector));
      await (last as Memory).close();
      expect(stray).toBeNull();
    }),
    { numRuns: 23 },
  );
  expect(damaged).toBeGreaterThan(20);
});

test('an index that was saved with a change that was lost does not find it, whatever has its number now', async () => {
  for (const kind of ['flat', 'hnsw'] as const)
    for (const how of ['cut', 'flip']) {
      const folder = join(root, String(folders++));
      const openOne = () => openMemory({ folder, dimension: DIMENSION, indexes: { main: { index: kind } } });
      const put = (memory: Memory, content: string) => runStep(memory, { kind: 'put', id: content, content });
      const first = await openOne();
      for (const content of ['a', 'b', 'lost']) await put(first, content);
      await first.close();
      const path = listSegments(folder)[0]?.path as string;
      const bytes = readFileSync(path);
      const at = bytes.byteLength - 3;
      bytes[at] = (bytes[at] as number) ^ 1;
      writeFileSync(path, how === 'cut' ? bytes.subarray(0, at) : bytes);
      const second = await openOne();
      expect(second.warnings).toEqual([
        `memory store ${folder} has lost change 3: 1 acknowledged at its end is missing; restore the folder from a copy, or make what is missing again`,
      ]);
      await put(second, 'new');
      const left = leaveKilled(folder);
      await second.close();
      const third = await openMemory({ folder: left, dimension: DIMENSION, indexes: { main: { index: kind } } });
      expect(third.warnings).toEqual([
        `memory store ${left} has lost acknowledged changes: its change 3 is another one than it was; restore the folder from a copy`,
      ]);
      expect((await third.search('main', drawVector('lost'), 9)).map(({ id }) => id).sort()).toEqual(['a', 'b', 'new']);
      await third.close();
    }
});
