import { type StageCounts, sumLaunches } from '../../../rank/signals/stage.ts';
import { formatDecimal } from './format.ts';
import { alignLines } from './text-table.ts';

/**
 * The stages that were computed, the longest first, with how often each was taken from memory or a store; `steps` is
 * what arms did outside of stages.
 */
export function formatStageTable(stages: StageCounts): string {
  const rows = Object.entries(stages)
    .filter(([, { executed, seconds }]) => executed + seconds > 0)
    .sort(([, a], [, b]) => b.seconds - a.seconds)
    .map(([name, { executed, memory, disk, launches, seconds }]) => [
      name,
      ...[formatDecimal(seconds, 2), ...[launches, executed, memory, disk].map(String)],
    ]);
  const seconds = Object.values(stages).reduce((total, stage) => total + stage.seconds, 0);
  const all = ['all', formatDecimal(seconds, 2), String(sumLaunches(stages)), '', '', ''];
  return alignLines([['stage', 'seconds', 'launches', 'computed', 'from memory', 'from disk'], ...rows, all]).join(
    '\n',
  );
}
