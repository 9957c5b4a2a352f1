import { join, relative } from 'node:path';
import { quoteShellWord } from '../../core/shell-words.ts';
import { printOut } from '../../core/terminal.ts';
import type { CorrectionName, TestName } from '../../evaluation/test-names.ts';
import { formatFileName } from '../../experiment/config/arms.ts';
import type { Environment } from '../../experiment/measure/result.ts';
import { captureEnvironment, NO_BACKEND } from '../../experiment/run/environment.ts';
import type { FinishedRun } from '../../experiment/run/run.ts';
import { writeRunFolder } from '../../experiment/run/run-folder.ts';
import { type ScoreOptions, scoreFiles } from '../../experiment/score/score.ts';
import { readClusters, readDocuments, readJudgements, readSystems } from '../../experiment/score/score-files.ts';
import type { System } from '../../experiment/score/system.ts';
import { renderText } from '../../report/tables/text-table.ts';
import { renderRunFiles } from '../../workbench/run-files.ts';

interface ScoreFlags {
  readonly metrics: readonly string[];
  readonly baseline?: string;
  readonly clusters?: string;
  readonly documents?: string;
  readonly relevantGrade: number;
  readonly test: TestName;
  readonly correction: CorrectionName;
  readonly samples: number;
  readonly level: number;
  readonly seed: number;
  readonly name: string;
  readonly results: string;
}

function chooseOptions(flags: ScoreFlags, [first]: readonly System[]): ScoreOptions {
  const { name, metrics, relevantGrade, test, correction, samples, level, seed } = flags;
  const baseline = flags.baseline ?? first?.name ?? '';
  return { name, metrics, relevantGrade, baseline, test, correction, samples, level, seed };
}

/** The environment of figures of files, with the command as somebody else would type it. */
function describeEnvironment(files: readonly string[], { seed, metrics }: ScoreFlags): Environment {
  const typed = files.map((file) => (file.includes('=') ? file : relative(process.cwd(), file) || file));
  const words = ['ragpp', 'score', ...typed, '--metrics', metrics.join(',')];
  return captureEnvironment(NO_BACKEND, seed, words.map(quoteShellWord).join(' '));
}

function finish(finished: FinishedRun, { results, name }: ScoreFlags): void {
  const { result } = finished;
  const folder = join(results, `${formatFileName(name)}-${result.hash}`);
  writeRunFolder(folder, renderRunFiles(finished));
  printOut(`\n${renderText(result)}\n`);
  printOut(`report: ${join(folder, 'report.html')}\n`);
}

export function runScore(qrels: string, runs: readonly string[], flags: ScoreFlags): void {
  const systems = readSystems(runs);
  const files = {
    systems,
    qrels: readJudgements(qrels),
    clusters: flags.clusters === undefined ? null : readClusters(flags.clusters),
    documents: flags.documents === undefined ? null : readDocuments(flags.documents),
  };
  finish(scoreFiles(files, chooseOptions(flags, systems), describeEnvironment([qrels, ...runs], flags)), flags);
}
