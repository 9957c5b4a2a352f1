import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openStore } from '../memory/store/open-store.ts';
import { runRagpp } from './command.harness.ts';
import { awaitFound, startRagpp } from './process.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-import-'));
afterAll(() => rmSync(root, { recursive: true }));

/** Records that are acknowledged together. */
const BATCH = 1024;
const ROWS = 7 * BATCH;
const file = join(root, 'records.jsonl');
const lines = Array.from({ length: ROWS }, (_, i) => {
  const embedding = [Math.sin(i), Math.cos(i * 1.7), Math.sin(i * 0.3)];
  return `${JSON.stringify({ id: `r${i}`, embedding, context: `record ${i}`, createdAt: i, outcome: i % 2 })}\n`;
});
writeFileSync(file, lines.join(''));

async function listIds(folder: string): Promise<string[]> {
  const store = await openStore(folder);
  await store.close();
  return Array.from(store.records(), ({ id }) => id);
}

/** True if a batch is in the journal. */
const isBegun = (folder: string) =>
  existsSync(folder) &&
  readdirSync(folder).some((name) => name.endsWith('.journal') && statSync(join(folder, name)).size > 0);

const expected = Array.from({ length: ROWS }, (_, i) => `r${i}`);

// The graph of hnsw takes its time, so that the signal comes between two batches.
test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)(
  '%s leaves the batches of an import, and the import that the message names ends with every record once',
  async (signal, code) => {
    const folder = join(root, signal);
    const words = ['memory', 'import', folder, file];
    const started = startRagpp([...words, '--set', 'indexes.main.index=hnsw']);
    await awaitFound(() => (isBegun(folder) ? true : undefined));
    started.kill(signal);
    const ended = await started.ended;
    expect(ended.code, ended.stderr).toBe(code);
    expect(ended.stderr).toMatch(
      /\nragpp: interrupted; the records that were written stay: run the same import again with --replace\n$/,
    );
    const left = await listIds(folder);
    expect(left.length % BATCH).toBe(0);
    expect(left.length).toBeGreaterThan(0);
    expect(left.length).toBeLessThan(ROWS);
    expect(left).toEqual(expected.slice(0, left.length));
    const refused = await runRagpp(...words, '--set', 'indexes.main={index: flat}');
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toContain(`${file}:1: duplicate id: r0 is in the memory; pass --replace to replace it`);
    expect(await listIds(folder)).toEqual(left);
    const again = await runRagpp(...words, '--replace', '--set', 'indexes.main={index: flat}');
    expect(again).toMatchObject({ code: 0, stdout: `${folder}: ${ROWS} records of 3 numbers\n` });
    expect(await listIds(folder)).toEqual(expected);
    const found = await runRagpp('memory', 'query', folder, '--id', 'r6000', '--k', '1', '--format', 'json');
    expect(JSON.parse(found.stdout).candidates).toHaveLength(1);
  },
);
