import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findSteps, groupByWriter, type KilledWriters, runKills } from '../store/kills.harness.ts';
import { listExpected, openKilled } from './removal-kill-writer.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-removal-kills-'));
afterAll(() => rmSync(root, { recursive: true }));

/** The conversations whose texts some file of a folder has. */
function listSecrets(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const texts = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'));
  return [
    ...new Set(texts.flatMap((text) => Array.from(text.matchAll(/secret (w\d+-\d+);/g), ([, talk]) => talk as string))),
  ];
}

/** Folders that a kill left with a removal that was decided, and with records to be removed. */
const seen = { decided: 0, conversations: 0 };
const WRITERS: KilledWriters = {
  entry: join(import.meta.dirname, 'removal-kill-writer.harness.ts'),
  packages: 'external',
  async check(folder, acknowledged) {
    seen.decided += Number(existsSync(join(folder, 'removal')));
    const memory = await openKilled(folder);
    const records = [...memory.records()];
    await memory.close();
    const talks = new Set(records.map(({ conversationId }) => conversationId));
    const leaks = listSecrets(folder).filter((talk) => !talks.has(talk));
    if (leaks.length > 0) throw new Error(`files have the texts of removed conversations: ${leaks.join(', ')}`);
    seen.conversations += talks.size - Number(talks.has('open'));
    return acknowledged.map((count, writer) => {
      const stored = (groupByWriter(records)[writer] ?? []).map(({ id, stats }) => `${id} ${stats.count}`).sort();
      return findSteps(writer, count, stored, listExpected);
    });
  },
};

test('no file has what was removed, and nothing else is lost, after a process was killed while 16 writers remove conversations', async () => {
  const report = await runKills(root, 17, 19, WRITERS);
  expect(report.whileWriting).toBeGreaterThan(2);
  expect(report.acknowledged).toBeGreaterThan(0);
  expect(seen.decided).toBeGreaterThan(0); // how many depends on the machine
  expect(seen.conversations).toBeGreaterThan(0);
});
