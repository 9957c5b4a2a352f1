import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { RECORD_WRITERS, runKills } from './kills.harness.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-kills-'));
afterAll(() => rmSync(folder, { recursive: true }));

// `npm run bench -- memory-kills` kills more often.
test('INV-003: what 16 writers were acknowledged is there after their process was killed, also while it writes snapshots', async () => {
  const report = await runKills(folder, 31, 17);
  expect(report.whileWriting).toBeGreaterThan(9);
  expect(report.acknowledged).toBeGreaterThan(report.kills); // how many more depends on the machine
  // How many there are depends on how busy the machine is.
  expect(report.snapshots).toBeGreaterThan(0);
  expect(report.duringSnapshots).toBeGreaterThan(0);
});

test('INV-003: what a writer alone was acknowledged, whose entries are written over zeros, is there after its process was killed', async () => {
  const report = await runKills(join(folder, 'lone'), 31, 19, { ...RECORD_WRITERS, count: 1 });
  expect(report.whileWriting).toBeGreaterThan(9);
  expect(report.acknowledged).toBeGreaterThan(report.kills);
});
