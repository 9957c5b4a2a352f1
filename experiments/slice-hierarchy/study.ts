import { computeHash } from '../../src/core/hash/hash.ts';
import type { Estimate } from '../../src/eval/intervals/mean-intervals.ts';
import type { Study } from '../study.ts';
import { formatPipeTable } from '../text-table.ts';
import { METRICS, measureLevels, type TaskFigures } from './levels.ts';
import { hierarchySettings } from './settings.ts';

const formatNumber = (value: number) => value.toFixed(3).replace(/^(-?)0/, '$1');
const formatEstimate = ({ mean, low, high }: Estimate) =>
  low === null ? formatNumber(mean) : `${formatNumber(mean)} [${formatNumber(low)}, ${formatNumber(high)}]`;

function buildSections({ dataset, queries, conversations, relevant, rows }: TaskFigures): string[] {
  const table = {
    head: [dataset, ...METRICS, ...METRICS.map((metric) => `${metric}, from one level`), 'turns', 'inadmissible'],
    rows: rows.map(({ arm, metrics, differences, meanTurns, inadmissible }) => [
      arm,
      ...metrics.map(formatEstimate),
      ...(differences?.map(formatEstimate) ?? METRICS.map(() => '-')),
      meanTurns === null ? 'all' : meanTurns.toFixed(1),
      `${inadmissible} of ${relevant}`,
    ]),
  };
  return [`${dataset}: ${queries} queries. 95 % intervals over ${conversations} clusters.`, formatPipeTable(table)];
}

/** What slices of two levels find that one level does not, within the same number of turns. */
export const sliceHierarchy: Study<typeof hierarchySettings> = {
  name: 'slice-hierarchy',
  description: 'slices of whole conversations, refined around the first results, beside slices of one level',
  settings: hierarchySettings,
  measure: async (settings, context) => {
    const tasks: TaskFigures[] = [];
    for (const task of settings.tasks) tasks.push(await measureLevels(task, settings, context));
    return {
      dataset: {
        name: tasks.map(({ dataset }) => dataset).join(', '),
        hash: computeHash(tasks.map(({ hash }) => hash)),
      },
      tested: tasks.map(({ tested }) => tested),
      figures: { metrics: METRICS, tasks: tasks.map(({ tested: _, ...figures }) => figures) },
      sections: [
        'BM25 among the turns of slices, which have as many turns in all arms.',
        ...tasks.flatMap(buildSections),
      ],
    };
  },
};
