import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { writeAtomic } from '../core/files.ts';
import { printOut } from '../core/terminal.ts';
import { CORRECTIONS, type CorrectionName, TESTS, type TestName } from '../evaluation/significance.ts';
import type { Granularity } from '../experiment/measure/passport.ts';
import { metricsText } from '../experiment/run/run-folder.ts';
import { rescore, rescoreName } from '../experiment/stored/rescore.ts';
import { readStoredRun } from '../experiment/stored/stored-run.ts';
import { renderCsv } from '../report/tables/csv.ts';
import { renderLatex } from '../report/tables/latex.ts';
import { renderMarkdown } from '../report/tables/markdown.ts';
import { renderText } from '../report/tables/text-table.ts';

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

function parseGrade(text: string): number {
  const grade = Number(text);
  if (!(grade > 0 && Number.isFinite(grade))) throw new InvalidArgumentError('a grade is a number above 0.');
  return grade;
}

function run(folder: string, flags: RescoreFlags): void {
  const options = {
    ...flags,
    relevantGrade: flags.relevantGrade ?? null,
    baseline: flags.baseline ?? null,
    unanswerableAre: flags.splitUnanswerable === 'count' ? ('counted' as const) : ('apart' as const),
  };
  const result = rescore(readStoredRun(folder), options);
  const target = join(folder, 'rescored', rescoreName(options));
  writeAtomic(join(target, 'metrics.json'), metricsText(result));
  writeAtomic(join(target, 'table.md'), renderMarkdown(result));
  writeAtomic(join(target, 'table.tex'), renderLatex(result));
  writeAtomic(join(target, 'table.csv'), renderCsv(result));
  printOut(`\n${renderText(result)}\n`);
  for (const { metric, definition, judgedAt, cutoff } of Object.values(result.passports))
    printOut(`${metric}: ${definition} judged@${cutoff ?? 10} ${judgedAt.toFixed(3)}\n`);
  printOut(`\n${join(target, 'table.md')}\n`);
}

export function rescoreCommand(): Command {
  return new Command('rescore')
    .description("measure a finished run's rankings by other definitions, without running it again")
    .argument('<run folder>', 'such as results/runs/quickstart-3f9a1c20')
    .requiredOption('--metrics <list>', 'metrics, with commas between them', (list) => list.split(','))
    .addOption(
      new Option(
        '--relevant-grade <grade>',
        "the least grade that counts as relevant (default: the dataset's)",
      ).argParser(parseGrade),
    )
    .option('--judged-only', 'take unjudged turns out of the rankings first', false)
    .addOption(
      new Option(
        '--split-unanswerable <how>',
        'queries without a relevant turn: count them, with 0 but for ndcg of lower grades, or keep them apart',
      )
        .choices(['count', 'apart'])
        .default('apart'),
    )
    .option('--baseline <arm>', "what the arms are compared with (default: the run's)")
    .addOption(
      new Option('--granularity <what>', 'what a hit is: a relevant turn, or any turn of its conversation')
        .choices(['turn', 'conversation'])
        .default('turn'),
    )
    .addOption(new Option('--test <name>', 'the paired test').choices(TESTS).default('permutation'))
    .addOption(
      new Option('--correction <name>', 'for comparing several arms').choices(Object.keys(CORRECTIONS)).default('holm'),
    )
    .addHelpText(
      'after',
      `
Prints the table and leaves it as table.md, .tex and .csv with metrics.json in
<run folder>/rescored/<name of the definitions>/.

Examples:
  ragpp rescore results/runs/quickstart-3f9a1c20 --metrics mrr@5,ndcg@20
  ragpp rescore results/runs/quickstart-3f9a1c20 --metrics recall@10 --relevant-grade 1 --granularity conversation
  ragpp rescore results/runs/quickstart-3f9a1c20 --metrics ndcg@10 --judged-only --baseline bm25`,
    )
    .action(run);
}
