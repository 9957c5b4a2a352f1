import { join, relative } from 'node:path';
import type { Command } from 'commander';
import { createTerminalProgress, printOut, type StartProgress } from '../../core/terminal/progress.ts';
import { quoteShellWord } from '../../core/text/format.ts';
import { parse } from '../../core/validation/validation.ts';
import { datasetOptions, loadDataset } from '../../data/registry.ts';
import type { CorrectionName, TestName } from '../../eval/significance/multiple-comparisons.ts';
import { readSuperseded } from '../../eval/trec/trec-files.ts';
import { formatFileName } from '../../lab/composition/arms.ts';
import { applyOverrides } from '../../lab/composition/config-file.ts';
import { tokenBudgets as budgetsSchema } from '../../lab/config/config-schema.ts';
import type { Environment } from '../../lab/measure/result.ts';
import type { System } from '../../lab/measure/system.ts';
import { withCountedLook } from '../../lab/measure/test-looks.ts';
import { renderText } from '../../lab/report/tables/text-table.ts';
import { captureEnvironment, NO_BACKEND } from '../../lab/run/environment.ts';
import { writeRunFolder } from '../../lab/run/run-folder.ts';
import { buildJudgedDataset, type ScoredDataset, type ScoreOptions, scoreSystems } from '../../lab/stored/score.ts';
import { readDocuments, readJudgements, readQueryColumn, readSystems } from '../../lab/stored/system-files.ts';
import { renderRunFiles } from '../../lab/workbench/run-files.ts';

interface ScoreFlags {
  readonly metrics: readonly string[];
  readonly tokenBudgets?: readonly number[];
  readonly baseline?: string;
  readonly clusters?: string;
  readonly strata?: string;
  readonly superseded?: string;
  readonly documents?: string;
  readonly relevantGrade?: number;
  readonly data?: string;
  readonly set: readonly string[];
  readonly split: 'dev' | 'test' | 'all';
  readonly granularity: 'turn' | 'session';
  readonly cache: string;
  readonly test: TestName;
  readonly correction: CorrectionName;
  readonly samples: number;
  readonly level: number;
  readonly seed: number;
  readonly name: string;
  readonly results: string;
}

function chooseOptions(flags: ScoreFlags, [first]: readonly System[]): ScoreOptions {
  const { name, metrics, test, correction, samples, level, seed } = flags;
  const baseline = flags.baseline ?? first?.name ?? '';
  const options = { name, metrics, baseline, test, correction, samples, level, seed };
  if (flags.tokenBudgets === undefined) return options;
  return { ...options, tokenBudgets: parse(budgetsSchema, flags.tokenBudgets, '--token-budgets') };
}

/** Options that change where things are kept, and no figure. */
const PLACES: readonly string[] = ['results', 'cache'];

/** The options of the command line, as somebody else would type them. */
function listTypedOptions(command: Command): string[] {
  return command.options.flatMap((option) => {
    const key = option.attributeName();
    if (PLACES.includes(key) || command.getOptionValueSource(key) !== 'cli') return [];
    const value: unknown = command.getOptionValue(key);
    const flag = option.long as string;
    if (key === 'set') return (value as readonly string[]).flatMap((override) => [flag, override]);
    return [flag, String(value)]; // a list is joined by commas
  });
}

/** The environment of figures of files, with the command as somebody else would type it. */
function describeEnvironment(files: readonly string[], { seed }: ScoreFlags, command: Command): Environment {
  const typed = files.map((file) => (file.includes('=') ? file : relative(process.cwd(), file) || file));
  const words = ['ragpp', 'score', ...typed, ...listTypedOptions(command)];
  return captureEnvironment(NO_BACKEND, seed, words.map(quoteShellWord).join(' '));
}

/** Options that mean something without a dataset alone, or with one alone. */
function assertFlags(flags: ScoreFlags, files: readonly string[], command: Command): void {
  const { data, relevantGrade, clusters, strata, superseded, documents, set, granularity, tokenBudgets } = flags;
  const others = Object.entries({
    '--relevant-grade': relevantGrade,
    '--clusters': clusters,
    '--strata': strata,
    '--superseded': superseded,
    '--documents': documents,
  });
  const given = others.filter(([, value]) => value !== undefined).map(([flag]) => flag);
  const fail = (message: string) => command.error(`error: ${message}`, { exitCode: 2 });
  if (data !== undefined && given.length > 0)
    fail(`${given.join(', ')} beside --data, which has its own; leave it out`);
  if (tokenBudgets !== undefined && (data === undefined || granularity !== 'turn'))
    fail('--token-budgets need the texts of turns; name a dataset with --data, and score by turn');
  if (data !== undefined) return;
  if (set.length > 0 || granularity !== 'turn') fail('--set or --granularity without --data; name a dataset');
  if (files.length < 2) fail(`judgements and at least 1 run file needed, got ${files.length} file; name a run file`);
}

/** The dataset that `--data` names. */
async function openDataset(name: string, flags: ScoreFlags, progress: StartProgress): Promise<ScoredDataset> {
  const { cache, set, split, granularity } = flags;
  const { dataset: written } = applyOverrides({ dataset: { name } }, set);
  const options = { cacheFolder: join(cache, 'datasets'), progress };
  const dataset = await loadDataset(parse(datasetOptions, written, 'the dataset'), options);
  return { dataset, split, granularity };
}

/** The judgements of a file, and what other files say of its queries and documents. */
function readDataset(qrels: string, flags: ScoreFlags): ScoredDataset {
  const { clusters, strata, superseded, documents, relevantGrade = 1 } = flags;
  return buildJudgedDataset({
    ...{ qrels: readJudgements(qrels), relevantGrade },
    clusters: clusters === undefined ? null : readQueryColumn(clusters, 'cluster'),
    strata: strata === undefined ? new Map() : readQueryColumn(strata, 'kind'),
    documents: documents === undefined ? null : readDocuments(documents),
    superseded: superseded === undefined ? null : readSuperseded(superseded),
  });
}

export async function runScore(files: readonly string[], flags: ScoreFlags, command: Command): Promise<void> {
  assertFlags(flags, files, command);
  const { data, results, name } = flags;
  const progress = createTerminalProgress();
  const [qrels = '', ...others] = files;
  const scored = data === undefined ? readDataset(qrels, flags) : await openDataset(data, flags, progress);
  const systems = readSystems(data === undefined ? others : files);
  const environment = describeEnvironment(files, flags, command);
  const measured = scoreSystems(systems, scored, chooseOptions(flags, systems), environment, progress);
  const finished = withCountedLook(measured, results);
  const { result } = finished;
  const folder = join(results, `${formatFileName(name)}-${result.hash}`);
  writeRunFolder(folder, renderRunFiles(finished));
  printOut(`\n${renderText(result)}\n`);
  printOut(`report: ${join(folder, 'report.html')}\n`);
}
