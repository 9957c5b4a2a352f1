import type { BackendName } from '../../core/tensors/active-backend.ts';
import { yaml } from '../../core/values/yaml.ts';
import { chooseIntervalMethod } from '../../eval/intervals/mean-intervals.ts';
import { encodeQrels, formatRun, formatSuperseded, SUPERSEDED_FILE } from '../../eval/trec/trec-files.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { encodeWeights, formatUserWeights } from '../../rank/learning/weight-file.ts';
import { formatFileName } from '../composition/arms.ts';
import { listArmsToRun } from '../config/arm-selection.ts';
import type { FitResult } from '../measure/fit-result.ts';
import { countTokens } from '../measure/passport.ts';
import type { ArmResult, ExperimentResult, QueryRecord } from '../measure/result.ts';
import { encodeArmRecord, encodeFailure, joinFailurePath, recordPath } from './arm-record.ts';
import { describeRunState, formatState, PartialFolder, type RunFiles, STATE } from './partial-folder.ts';
import type { FinishedRun } from './run.ts';
import { encodeSliceLines, formatSliceKeys, KEYS, SLICES } from './run-slices.ts';

export type { RunFiles };

function formatPerQueryLines(result: ExperimentResult): string {
  const lines = result.queries.flatMap((query, q) =>
    result.arms.map((arm) => {
      const values = Object.fromEntries(result.metrics.map((metric) => [metric, arm.perQuery[metric]?.[q]]));
      return JSON.stringify({ query: query.id, cluster: query.cluster, arm: arm.name, ...values });
    }),
  );
  return `${lines.join('\n')}\n`;
}

/** The conservation of what each query was shown, a line a query and arm. */
function formatConservationLines({ queries, arms }: ExperimentResult): string {
  const lines = queries.flatMap(({ id, cluster, timestamp }, q) =>
    arms.map(({ name, conservation }) => {
      const sets = Object.entries(conservation?.perQuery ?? {}).map(([set, figures]) => [
        set,
        Object.fromEntries(Object.entries(figures).map(([figure, values]) => [figure, values[q]])),
      ]);
      return JSON.stringify({ query: id, cluster, timestamp, arm: name, ...Object.fromEntries(sets) });
    }),
  );
  return `${lines.join('\n')}\n`;
}

/** The result of an arm as a whole: single queries and strata are in other files, timings in a file that no comparison reads. */
function summariseArm(arm: ArmResult) {
  const { name, description, tuned, levels, control, structure, metrics, comparisons, holes, attribution } = arm;
  const seeds = arm.seeds === undefined ? {} : { seeds: arm.seeds };
  const steps = arm.steps === undefined ? {} : { steps: arm.steps };
  const slices = arm.slices === undefined ? {} : { slices: arm.slices };
  const evidence = arm.evidence === undefined ? {} : { evidence: arm.evidence };
  const { perQuery: _, ...conservation } = arm.conservation ?? {};
  return {
    name,
    description,
    tuned,
    levels,
    control,
    structure,
    metrics,
    ...seeds,
    comparisons,
    holes,
    attribution,
    ...steps,
    ...evidence,
    ...(arm.conservation && { conservation }),
    ...slices,
  };
}

/** The fitted model as a whole: its numbers and curves are in other files. */
function summariseFit(fit: FitResult) {
  const { signals, numbers: _, curve: __, validation: ___, folds, ...kept } = fit;
  const outer = folds.map(({ clusters, point, epochs }) => ({ clusters, point, epochs }));
  return { ...kept, signals: signals.length, folds: outer };
}

/** The figures of a result, as metrics.json has them. */
export function summariseResult(result: ExperimentResult) {
  const { name, hash, baseline, metrics, statistics, passports, failures, stopped, remarks, warnings, look } = result;
  const { turns: _, ...dataset } = result.dataset;
  const queries = result.queries.length;
  const conversations = new Set(result.queries.map(({ cluster }) => cluster)).size;
  const seeds = Math.max(1, ...result.arms.map((arm) => arm.seeds?.count ?? 1));
  const intervals = chooseIntervalMethod(conversations, seeds);
  const arms = result.arms.map(summariseArm);
  const content = {
    experiment: name,
    hash,
    queries,
    conversations,
    baseline,
    metrics,
    statistics,
    intervals,
    passports,
    arms,
  };
  const fit = result.fit && summariseFit(result.fit);
  const users = result.users && { ...result.users, arms: result.users.arms.map(summariseArm) };
  return { ...content, fit, users, failures, stopped, dataset, look, remarks, warnings };
}

/** The text of metrics.json. */
export function formatMetrics(result: ExperimentResult): string {
  return `${JSON.stringify(summariseResult(result), null, 2)}\n`;
}

/** The strata of the queries, and each arm's values in them by its name. */
export function summariseStrata({ strata, arms }: ExperimentResult) {
  const divisions = strata.map(({ levels, ...stratum }) => ({
    ...stratum,
    levels: levels.map(({ name, queries }) => ({ name, queries: queries.length })),
  }));
  return { strata: divisions, arms: Object.fromEntries(arms.map(({ name, strata: held }) => [name, held])) };
}

/** The strata and clusters of the queries, one query per line, those without a relevant turn last. */
function formatQueryLines({ queries, unanswerable, strata }: ExperimentResult): string {
  const levels: Record<string, string>[] = queries.map(() => ({}));
  for (const stratum of strata)
    for (const level of stratum.levels)
      for (const query of level.queries) (levels[query] as Record<string, string>)[stratum.name] = level.name;
  const formatQueryLine =
    (answerable: boolean) =>
    ({ judgements: _, ...query }: QueryRecord, queryIndex: number) =>
      `${JSON.stringify({ ...query, answerable, levels: answerable ? levels[queryIndex] : {} })}\n`;
  return [...queries.map(formatQueryLine(true)), ...unanswerable.map(formatQueryLine(false))].join('');
}

/** The conversation of each turn, one turn per line in the order of the positions that the arms' records use. */
function formatTurnLines({ turns }: Corpus): string {
  const line = ({ id, conversationId, text }: Turn) => ({
    id,
    conversation: conversationId,
    tokens: countTokens(text),
  });
  return turns.map((turn) => `${JSON.stringify(line(turn))}\n`).join('');
}

/** What the files of a run are written from: figures, rankings, judgements and turns. */
export type MeasuredRankings = Pick<FinishedRun, 'result' | 'runs' | 'qrels' | 'corpus'> &
  Partial<Pick<FinishedRun, 'superseded' | 'records' | 'sliceKeys' | 'look' | 'weights' | 'users'>>;

/** The signed slices of the arms: those of null controls and repetitions are those of their arms. */
function sliceFiles({ records = [], sliceKeys = null, corpus }: MeasuredRankings): RunFiles {
  if (sliceKeys === null) return {};
  const files = records.flatMap(({ name, options: { control, repeats }, slices }) =>
    slices === undefined || control !== null || repeats !== null
      ? []
      : [[`${SLICES}/${formatFileName(name)}.jsonl`, encodeSliceLines(slices, corpus)] as const],
  );
  return { [KEYS]: formatSliceKeys(sliceKeys), ...Object.fromEntries(files) };
}

/** The files that a fit adds. */
function weightFiles({ result, weights = new Map(), users = null }: MeasuredRankings): RunFiles {
  const files = Array.from(weights, ([file, learned]) => [file, encodeWeights(learned)] as const);
  const own = users === null || result.users === undefined ? {} : { [result.users.file]: formatUserWeights(users) };
  return { ...Object.fromEntries(files), ...own };
}

/** The files of a finished run besides its tables. */
export function runFiles(measured: MeasuredRankings): RunFiles {
  const { result, runs, qrels, superseded, corpus } = measured;
  const trec = [...runs].map(([name, run]) => [
    `runs/${formatFileName(name)}.trec`,
    formatRun(run, formatFileName(name)),
  ]);
  const { environment, stages, armsAtOnce, timings } = result;
  const latency = Object.fromEntries(
    result.arms.flatMap((arm) => (arm.latency === null ? [] : [[arm.name, arm.latency]])),
  );
  return {
    'config.yaml': yaml().stringify(result.config),
    'environment.json': `${JSON.stringify({ ...environment, stages, armsAtOnce, timings, latency }, null, 2)}\n`,
    'metrics.json': formatMetrics(result),
    'strata.json': `${JSON.stringify(summariseStrata(result))}\n`,
    'queries.jsonl': formatQueryLines(result),
    'turns.jsonl': formatTurnLines(corpus),
    'per-query.jsonl': formatPerQueryLines(result),
    ...(result.arms[0]?.conservation && { 'conservation.jsonl': formatConservationLines(result) }),
    'qrels.trec': encodeQrels(qrels),
    ...(superseded !== undefined && { [SUPERSEDED_FILE]: formatSuperseded(superseded) }),
    ...Object.fromEntries(trec),
    ...sliceFiles(measured),
    ...weightFiles(measured),
  };
}

/** The files that arms leave while they run in a folder: their records and failures, and the state that they belong to. */
export function recordFiles({ result, records, config }: FinishedRun): RunFiles {
  if (result.fit !== undefined) return {}; // its arms are no arms of the config
  const { hash, dataset, failures, stopped, armsAtOnce } = result;
  const left = new Set(stopped.map(({ name }) => name));
  const arms = listArmsToRun(config).filter(({ name }) => !left.has(name));
  const backend = result.environment.backend as BackendName;
  return {
    [STATE]: formatState(describeRunState({ hash, backend, arms }, dataset.hash, armsAtOnce)),
    ...Object.fromEntries(records.map((record) => [recordPath('', record.name), encodeArmRecord(record)])),
    ...Object.fromEntries(failures.map((failure) => [joinFailurePath('', failure.name), encodeFailure(failure)])),
  };
}

/**
 * Replaces a folder as a whole: files are written to a folder beside it, which is then renamed, so that an interruption leaves the earlier one or none.
 *
 * @throws StorageError naming the folder; UnavailableError while another process writes it.
 */
export function writeRunFolder(target: string, files: RunFiles): string {
  const folder = PartialFolder.open(target, 'fresh');
  try {
    folder.finish(files);
    return folder.target;
  } catch (error) {
    folder.remove();
    throw error;
  }
}
