import type { Command } from 'commander';
import { ConfigurationError, type ConfigurationFault } from '../../core/errors/errors.ts';
import { printOut } from '../../core/terminal/progress.ts';
import { withNearest } from '../../core/validation/validation.ts';
import {
  type CacheFile,
  cacheFiles,
  cacheParts,
  deleteFiles,
  OTHER_PARTS,
  selectGarbage,
} from '../../lab/stored/cache-contents.ts';
import { alignColumns } from '../process/columns.ts';

const MIB = 2 ** 20;

function sum(files: readonly CacheFile[]): number {
  return files.reduce((total, { bytes }) => total + bytes, 0);
}

function formatMebibytes(bytes: number): string {
  return (bytes / MIB).toFixed(1);
}

/** To the minute, in UTC. */
function formatMoment(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 16).replace('T', ' ')}Z`;
}

export function list({ cache }: { cache: string }): void {
  const files = cacheFiles(cache);
  if (files.length === 0) {
    printOut(`nothing in ${cache}\n`);
    return;
  }
  const rows = cacheParts(files).map(({ part, files: count, bytes, oldest, newest }) => {
    const name = OTHER_PARTS.includes(part) ? `(${part})` : part;
    return [name, String(count), formatMebibytes(bytes), formatMoment(oldest), formatMoment(newest)];
  });
  const total = ['total', String(files.length), formatMebibytes(sum(files))];
  printOut(`${alignColumns([['stage', 'files', 'MiB', 'oldest', 'newest'], ...rows, total])}\n`);
}

interface CollectOptions {
  readonly cache: string;
  readonly olderThan?: number;
  readonly maxSize?: number;
  readonly stage: readonly string[];
  readonly dryRun?: true;
}

/** @throws ConfigurationError for a stage that the cache does not hold, since nothing would be deleted. */
function assertParts(wanted: readonly string[], files: readonly CacheFile[]): void {
  const known = [...new Set([...cacheParts(files).map(({ part }) => part), ...OTHER_PARTS])];
  const faults = wanted
    .filter((name) => !known.includes(name))
    .map((name): ConfigurationFault => {
      const fault = { path: '--stage', expected: `one of ${known.join(', ')}`, got: JSON.stringify(name) };
      return withNearest(fault, name, known);
    });
  if (faults.length > 0) throw new ConfigurationError('--stage', faults);
}

export function collectGarbage({ cache, olderThan, maxSize, stage, dryRun }: CollectOptions, command: Command): void {
  if (olderThan === undefined && maxSize === undefined && stage.length === 0)
    command.error('error: no rule for deletion; give --older-than, --max-size or --stage', { exitCode: 2 });
  const files = cacheFiles(cache);
  assertParts(stage, files);
  const options = {
    parts: stage,
    ...(olderThan === undefined ? {} : { olderThanDays: olderThan }),
    ...(maxSize === undefined ? {} : { maxBytes: maxSize * MIB }),
  };
  const found = selectGarbage(files, options, Date.now());
  if (dryRun !== true) deleteFiles(found);
  for (const { part, files: count, bytes } of cacheParts(found))
    printOut(`${part}: ${count} files, ${formatMebibytes(bytes)} MiB\n`);
  const verb = dryRun === true ? 'would delete' : 'deleted';
  printOut(
    `${verb} ${found.length} of ${files.length} files, ${formatMebibytes(sum(found))} of ${formatMebibytes(sum(files))} MiB\n`,
  );
}
