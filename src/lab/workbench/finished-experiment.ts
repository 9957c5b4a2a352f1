import { join, resolve } from 'node:path';
import {
  attachDisplay,
  buildTableBundle,
  DISPLAY,
  type MimeBundle,
  phrase,
  type ShowableText,
  stateShown,
} from '../../core/display/display.ts';
import { ValidationError } from '../../core/errors/errors.ts';
import { activeBackend, hasActiveBackend } from '../../core/tensors/active-backend.ts';
import { type BackendName, useBackend } from '../../core/tensors/backend.ts';
import {
  closeProgress,
  createTerminalProgress,
  ignoreProgress,
  type StartProgress,
} from '../../core/terminal/progress.ts';
import { suggestKnown } from '../../core/validation/validation.ts';
import { groupIntoClusters } from '../../eval/intervals/mean-intervals.ts';
import { readDirection } from '../../eval/metrics/metric.ts';
import { type BaselineComparison, compareWithBaseline } from '../../eval/significance/significance.ts';
import type { Dataset } from '../../model/dataset.ts';
import { displayRun, type Qrels, type Run } from '../../model/run.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import type { FeatureTable } from '../../rank/learning/feature-table.ts';
import { findFittedArm } from '../config/arm-selection.ts';
import type { ExperimentConfig } from '../config/config.ts';
import type { ArmResult, ExperimentResult } from '../measure/result.ts';
import { withCountedLook } from '../measure/test-looks.ts';
import {
  chooseMetric,
  drawFigure,
  type FigureName,
  type FigureOptions,
  type PlotlyFigure,
} from '../report/figures/figures.ts';
import { renderCsv } from '../report/tables/csv.ts';
import { renderLatex, renderMarkdown } from '../report/tables/markdown.ts';
import { buildLadderBundle, buildLadderTable } from '../report/tables/table.ts';
import { renderText } from '../report/tables/text-table.ts';
import { type Execute, executeHere } from '../run/execution.ts';
import { type FinishedRun, type OpenRunContext, runExperiment } from '../run/run.ts';
import { recordFiles, writeRunFolder } from '../run/run-folder.ts';

/** Components that are made of others, and so are no signals. */
const isComposed = (name: string) => name === 'relevance' || name === 'scoring' || name.startsWith('before ');

/**
 * The components of an arm's scores as signals for `rag-plusplus/rank`: a row for each measured query, its candidates
 * those that `evaluation.inspect` keeps.
 *
 * @throws ValidationError for an arm without a component that is a signal.
 */
function buildArmFeatures(result: ExperimentResult, arm: ArmResult): FeatureTable {
  const { queries } = result;
  const { relevantGrade } = result.dataset;
  const columns = arm.componentNames.flatMap((name, column) => (isComposed(name) ? [] : [column]));
  if (columns.length === 0)
    throw new ValidationError(`arm has no signals to learn from: ${arm.name}; name one with relevance signals`);
  const width = Math.max(1, ...arm.rankings.map((ranking) => ranking.length));
  const pairs = queries.length * width;
  const [F, values, mask] = [columns.length, new Float32Array(pairs * columns.length), new Uint8Array(pairs)];
  const grades = new Float32Array(pairs);
  const missed: number[][] = [];
  for (const [q, { judgements }] of queries.entries()) {
    // Candidates are in the order that the tie rule gives equal scores: id descending.
    const ranked = [...(arm.rankings[q] ?? [])].sort((a, b) => compareBytes(b.id, a.id));
    for (const [c, { id, components }] of ranked.entries()) {
      const pair = q * width + c;
      mask[pair] = 1;
      grades[pair] = judgements[id] ?? 0;
      for (const [f, column] of columns.entries()) values[pair * F + f] = components[column] as number;
    }
    const found = new Set(ranked.map(({ id }) => id));
    missed.push(
      Object.entries(judgements).flatMap(([id, grade]) => (grade >= relevantGrade && !found.has(id) ? [grade] : [])),
    );
  }
  return {
    signals: columns.map((column) => arm.componentNames[column] as string),
    queryIds: queries.map(({ id }) => id),
    clusters: queries.map(({ cluster }) => cluster),
    width,
    values,
    mask,
    grades,
    missed: Int32Array.from(missed, (list) => list.length),
    missedGrades: Float32Array.from(missed.flat()),
    relevantGrade,
  };
}

const TABLES = { text: renderText, markdown: renderMarkdown, latex: renderLatex, csv: renderCsv } as const;
/** The format of the table of an experiment: `text` as `ragpp run` prints it, `markdown`, `latex` or `csv`. */
export type TableFormat = keyof typeof TABLES;

/** One arm on one query: `arm`, `query`, `cluster`, `kind`, and a number for each metric. */
export interface QueryRow {
  readonly arm: string;
  readonly query: string;
  readonly cluster: string;
  readonly kind: string | null;
  readonly [metric: string]: string | number | null;
}

/** Two arms of a result in one metric. */
export interface ArmComparison extends BaselineComparison {
  readonly arm: string;
  readonly other: string;
  readonly metric: string;
}

/** Lets a notebook show a comparison as a row of a table. @returns the same object. */
function displayComparison(comparison: ArmComparison, level: number): ArmComparison {
  return attachDisplay(comparison, ({ arm, other, metric, difference, ...test }) => {
    const { low, mean, high } = difference;
    const { correctedP: p, verdict, effectSize, wins, ties, losses } = test;
    const [of, from, measured] = [arm, other, metric].map(stateShown) as [ShowableText, ShowableText, ShowableText];
    const row = { difference: mean, low, high, p, verdict: stateShown(verdict), effectSize, wins, ties, losses };
    const caption = phrase`${of} minus ${from} in ${measured}, with a ${Math.round(level * 100)} % interval`;
    return buildTableBundle([row], { caption });
  });
}

/** What {@link experiment} found: figures and rankings, tables and pictures of them, and the folder of a run. */
export class FinishedExperiment {
  /** Every figure, as plain data. */
  readonly result: ExperimentResult;
  /** The judgements of the evaluated queries. */
  readonly qrels: Qrels;
  readonly corpus: Corpus;
  readonly #finished: FinishedRun;

  constructor(finished: FinishedRun) {
    this.#finished = finished;
    this.result = finished.result;
    this.qrels = finished.qrels;
    this.corpus = finished.corpus;
  }

  #arm(name: string): ArmResult {
    const { arms, failures } = this.result;
    const arm = arms.find((one) => one.name === name);
    if (arm !== undefined) return arm;
    const failure = failures.find((one) => one.name === name);
    if (failure !== undefined)
      throw new ValidationError(`arm failed: ${name}: ${failure.message}; correct it and run again`, { name });
    const known = arms.map((one) => one.name);
    throw new ValidationError(`result has no arm: ${name}; use ${suggestKnown(name, known)}`, { name, known });
  }

  #values(name: string, metric: string): readonly number[] {
    return this.#arm(name).perQuery[metric] as readonly number[];
  }

  /** The table that `ragpp run` prints, or as Markdown, LaTeX or CSV. @throws ValidationError for an unknown format. */
  table(format: TableFormat = 'text'): string {
    const render = Object.hasOwn(TABLES, format) ? TABLES[format] : undefined;
    if (render !== undefined) return render(this.result);
    throw new ValidationError(`unknown format of a table: ${format}; use one of ${Object.keys(TABLES).join(', ')}`);
  }

  /**
   * The paired, clustered test of an arm against another, by the test, level and samples of the config. Nothing is
   * corrected over other comparisons. With several seeds it is that of the queries' means over the seeds, without the
   * variance between seeds; `result.arms[].comparisons` has both.
   *
   * @param other by default the baseline.
   * @param metric by default the first.
   * @throws ValidationError for an unknown arm or metric, and for an arm that failed.
   */
  compare(arm: string, other?: string, metric?: string): ArmComparison {
    const { result } = this;
    const names = { arm, other: other ?? result.baseline, metric: chooseMetric(result, metric) };
    const clusters = groupIntoClusters(result.queries.map(({ cluster }) => cluster));
    const { test, correction, samples, level } = result.statistics;
    const better = readDirection(names.metric);
    const options = { test, correction, samples, level, better, seed: result.environment.seed };
    const [values, before] = [this.#values(arm, names.metric), this.#values(names.other, names.metric)];
    const [comparison] = compareWithBaseline([values], before, clusters, options);
    return displayComparison({ ...names, ...(comparison as BaselineComparison) }, level);
  }

  /** The rankings of an arm, of every evaluated query. @throws ValidationError for an unknown arm. */
  run(arm: string): Run {
    return displayRun(this.#finished.runs.get(this.#arm(arm).name) as Run);
  }

  /**
   * A figure as Plotly JSON: `differences` from the baseline, `means`, or one arm's gains by `queries`.
   *
   * @throws ValidationError for an unknown figure, metric or arm.
   */
  figure(name: FigureName, options: FigureOptions = {}): PlotlyFigure {
    return drawFigure(this.result, name, options);
  }

  /**
   * The signals of an arm's candidates, with their grades, for `train` of `rag-plusplus/rank`. Train on
   * `evaluation.split: 'dev'`, with `evaluation.inspect` as large as the number of candidates.
   *
   * @throws ValidationError for an unknown arm, and for one without signals.
   */
  features(arm: string): FeatureTable {
    return buildArmFeatures(this.result, this.#arm(arm));
  }

  /** A row for each arm and query, for a data frame: Observable, Arquero, or JSON for pandas. */
  rows(): QueryRow[] {
    const { arms, queries, metrics } = this.result;
    return arms.flatMap(({ name, perQuery }) =>
      queries.map(({ id, cluster, kind }, q) => ({
        arm: name,
        query: id,
        cluster,
        kind,
        ...Object.fromEntries(metrics.map((metric) => [metric, perQuery[metric]?.[q] as number])),
      })),
    );
  }

  /** The table of the arms, for a notebook. */
  [DISPLAY](): MimeBundle {
    return { ...buildLadderBundle(buildLadderTable(this.result)), 'text/plain': this.table() };
  }

  /**
   * Writes the folder that `ragpp run` writes, `<folder>/<name>-<hash>`, and replaces an earlier one of the same name.
   * A look at a test split is counted.
   *
   * @param folder where runs are kept, such as `results/runs`.
   * @returns the path of the run's folder.
   * @throws StorageError, UnavailableError while another process writes it.
   */
  async save(folder: string): Promise<string> {
    const { renderRunFiles } = await import('./run-files.ts');
    const { name, hash } = this.result;
    const target = resolve(join(folder, `${name}-${hash}`));
    const finished = withCountedLook(this.#finished, folder);
    writeRunFolder(target, { ...recordFiles(finished), ...renderRunFiles(finished) });
    return target;
  }
}

/** The inputs that `Experiment.run` passes on. */
interface ResolvedRun {
  readonly config: ExperimentConfig;
  readonly dataset: Dataset | null;
  readonly cacheFolder: string | null;
  /** Null shows nothing; undefined shows bars on a terminal alone. */
  readonly progress: StartProgress | null | undefined;
  readonly signal: AbortSignal | undefined;
  /** The folder of runs whose list counts a look at a test split. */
  readonly countedIn: string | undefined;
}

function chooseProgress(given: StartProgress | null | undefined): StartProgress {
  if (given !== undefined) return given ?? ignoreProgress;
  return process.stderr.isTTY ? createTerminalProgress() : ignoreProgress;
}

/** The backend that the config names; for `auto` the active one, if there is one. */
async function chooseBackend({ backend }: ExperimentConfig): Promise<BackendName> {
  return backend === 'auto' && hasActiveBackend() ? activeBackend() : useBackend(backend);
}

/**
 * Runs the arms of an experiment, or fits its arm.
 *
 * @param execute as of `runExperiment`, for arms that are not fitted.
 */
export async function runOrFit(
  config: ExperimentConfig,
  context: OpenRunContext,
  execute: Execute = executeHere,
  executeRound: Execute = executeHere,
): Promise<FinishedRun> {
  if (findFittedArm(config) === null) return runExperiment(config, context, execute, executeRound);
  return (await import('../training/training-run.ts')).runTraining(config, context);
}

/** Runs the arms of a config in this process and measures them. */
export async function runResolved({
  config,
  dataset,
  cacheFolder,
  ...given
}: ResolvedRun): Promise<FinishedExperiment> {
  const { signal, countedIn } = given;
  signal?.throwIfAborted();
  try {
    const backend = await chooseBackend(config);
    const finished = await runOrFit(config, {
      backend,
      cacheFolder,
      command: 'experiment()',
      progress: chooseProgress(given.progress),
      ...(dataset === null ? {} : { dataset }),
      ...(signal === undefined ? {} : { signal }),
    });
    return new FinishedExperiment(countedIn === undefined ? finished : withCountedLook(finished, countedIn));
  } finally {
    closeProgress();
  }
}
