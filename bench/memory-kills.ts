import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runDamageRounds } from '../src/memory/engine/damage.harness.ts';
import { runKills } from '../src/memory/store/kills.harness.ts';
import { parseIntegerOption, parsePositiveOption } from './integer-option.ts';
import { formatTextTable } from './text-table.ts';

export const MEMORY_KILLS_USAGE = `memory-kills [options]  kills 16 writers of a memory store at random moments, and checks the store after each kill;
                          then damages the journals of memories between two writers, and checks what is reported and found
    --kills N      default 1000
    --rounds N     of damage (default 50)
    --seed N       of both (default 1)`;

async function printKills(folder: string, kills: number, seed: number): Promise<void> {
  const report = await runKills(folder, kills, seed);
  const row = [report.kills, report.whileWriting, report.duringSnapshots, report.snapshots, report.acknowledged];
  const header = ['kills', 'while writing', 'during snapshots', 'snapshots', 'acknowledged', 'unacknowledged'];
  console.log(formatTextTable(header, [[...row, report.unacknowledged].map(String)]));
  console.log('every acknowledged operation was there after each kill');
}

async function printDamage(folder: string, rounds: number, seed: number): Promise<void> {
  const report = await runDamageRounds(folder, rounds, seed);
  const header = ['rounds', 'damaged', 'refused', 'reported', 'changes lost', 'changes kept'];
  const row = [report.rounds, report.damaged, report.refused, report.reported, report.lost, report.kept];
  console.log(formatTextTable(header, [row.map(String)]));
  console.log('without damage nothing was lost; every loss was reported; every index found what a scan finds');
}

/** @throws Error for a store or a memory that is not as it must be. */
export async function benchMemoryKills(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      kills: { type: 'string', default: '1000' },
      rounds: { type: 'string', default: '50' },
      seed: { type: 'string', default: '1' },
    },
  });
  const kills = parseIntegerOption('kills', values.kills, 0);
  const rounds = parseIntegerOption('rounds', values.rounds, 0);
  const seed = parsePositiveOption('seed', values.seed);
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-memory-kills-'));
  try {
    if (kills > 0) await printKills(join(folder, 'kills'), kills, seed);
    if (rounds > 0) await printDamage(join(folder, 'damage'), rounds, seed);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
