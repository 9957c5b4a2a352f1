import { join } from 'node:path';
import { writeAtomic } from '../../core/files/files.ts';
import { createTerminalProgress, printOut } from '../../core/terminal/progress.ts';
import { METRICS } from '../../eval/metrics/metric.ts';
import type { CorrectionName, TestName } from '../../eval/significance/multiple-comparisons.ts';
import { loadConfigPlugins } from '../../lab/config/config.ts';
import type { Granularity } from '../../lab/measure/passport.ts';
import { renderCsv } from '../../lab/report/tables/csv.ts';
import { renderLatex, renderMarkdown } from '../../lab/report/tables/markdown.ts';
import { nameJudgedShare } from '../../lab/report/tables/side-tables.ts';
import { renderText } from '../../lab/report/tables/text-table.ts';
import { formatMetrics } from '../../lab/run/run-folder.ts';
import { rescore, rescoreName } from '../../lab/stored/rescore.ts';
import { openRun } from '../../lab/stored/stored-run.ts';

interface RescoreFlags {
  readonly metrics: string[];
  readonly relevantGrade?: number;
  readonly judgedOnly: boolean;
  readonly splitUnanswerable: 'count' | 'apart';
  readonly baseline?: string;
  readonly granularity: Granularity;
  readonly test: TestName;
  readonly correction: CorrectionName;
}

/** Metrics of plugins come from those of the run's config. */
async function loadMetrics(folder: string, metrics: readonly string[]): Promise<void> {
  const isAdded = metrics.some((id) => METRICS.find(id.split('@')[0] ?? '') === undefined);
  if (isAdded) await loadConfigPlugins(join(folder, 'config.yaml'));
}

export async function run(folder: string, flags: RescoreFlags): Promise<void> {
  await loadMetrics(folder, flags.metrics);
  const options = {
    ...flags,
    relevantGrade: flags.relevantGrade ?? null,
    baseline: flags.baseline ?? null,
    unanswerableAre: flags.splitUnanswerable === 'count' ? ('counted' as const) : ('apart' as const),
  };
  const result = rescore(openRun(folder), options, createTerminalProgress());
  const target = join(folder, 'rescored', rescoreName(options));
  writeAtomic(join(target, 'metrics.json'), formatMetrics(result));
  writeAtomic(join(target, 'table.md'), renderMarkdown(result));
  writeAtomic(join(target, 'table.tex'), renderLatex(result));
  writeAtomic(join(target, 'table.csv'), renderCsv(result));
  printOut(`\n${renderText(result)}\n`);
  for (const passport of Object.values(result.passports)) {
    const { metric, definition, judgedAt } = passport;
    printOut(`${metric}: ${definition} ${nameJudgedShare(passport)} ${judgedAt.toFixed(3)}\n`);
  }
  printOut(`\n${join(target, 'table.md')}\n`);
}
