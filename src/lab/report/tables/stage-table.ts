import { type StageCounts, sumCounts } from '../../../rank/signals/stage.ts';
import { formatDecimal } from './format.ts';
import { alignLines } from './text-table.ts';

const HEADER = [
  ...['stage', 'seconds', 'garbage collection', 'launches', 'bytes read back'],
  ...['computed', 'from memory', 'from disk'],
];

/** Cells of the stages that were computed, the longest first. */
function listRows(stages: StageCounts, format: (seconds: number) => string): string[][] {
  return Object.entries(stages)
    .filter(([, { executed, seconds }]) => executed + seconds > 0)
    .sort(([, a], [, b]) => b.seconds - a.seconds)
    .map(([name, { executed, memory, disk, launches, bytesRead, seconds, garbageSeconds }]) => [
      ...[name, format(seconds), format(garbageSeconds)],
      ...[launches, bytesRead, executed, memory, disk].map(String),
    ]);
}

/**
 * The stages that were computed, the longest first, with how often each was taken from memory or a store; `steps` is
 * what arms did outside of stages.
 */
export function formatStageTable(stages: StageCounts): string {
  const rows = listRows(stages, (seconds) => formatDecimal(seconds, 2));
  const { seconds, garbageSeconds, launches, bytesRead } = sumCounts(stages);
  const sums = [formatDecimal(seconds, 2), formatDecimal(garbageSeconds, 2), String(launches), String(bytesRead)];
  return alignLines([HEADER, ...rows, ['all', ...sums, '', '', '']]).join('\n');
}

/** The rows of {@link formatStageTable} as CSV. */
export function formatStageCsv(stages: StageCounts): string {
  return [HEADER, ...listRows(stages, String)].map((row) => `${row.join(',')}\n`).join('');
}
