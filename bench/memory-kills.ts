import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runKills } from '../src/memory/store/kills.harness.ts';
import { parsePositiveOption } from './integer-option.ts';
import { formatTextTable } from './text-table.ts';

export const MEMORY_KILLS_USAGE = `memory-kills [options]  kills 16 writers of a memory store at random moments, and checks the store after each kill
    --kills N      default 1000
    --seed N       of the moments (default 1)`;

/** @throws Error for a store that has lost an acknowledged operation, or has a part of one. */
export async function benchMemoryKills(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { kills: { type: 'string', default: '1000' }, seed: { type: 'string', default: '1' } },
  });
  const kills = parsePositiveOption('kills', values.kills);
  const seed = parsePositiveOption('seed', values.seed);
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-memory-kills-'));
  try {
    const report = await runKills(folder, kills, seed);
    const row = [report.kills, report.whileWriting, report.duringSnapshots, report.snapshots, report.acknowledged];
    const header = ['kills', 'while writing', 'during snapshots', 'snapshots', 'acknowledged', 'unacknowledged'];
    console.log(formatTextTable(header, [[...row, report.unacknowledged].map(String)]));
    console.log('every acknowledged operation was there after each kill');
  } finally {
    rmSync(folder, { recursive: true });
  }
}
