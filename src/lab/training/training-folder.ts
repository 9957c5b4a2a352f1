import { join, resolve } from 'node:path';
import { yaml } from '../../core/values/yaml.ts';
import { chooseIntervalMethod } from '../../eval/intervals/mean-intervals.ts';
import { encodeQrels, formatRun } from '../../eval/trec/trec-files.ts';
import { formatUserWeights } from '../../rank/learning/user-weights-file.ts';
import { writeWeights } from '../../rank/learning/weight-file.ts';
import { formatFileName } from '../composition/arms.ts';
import { PartialFolder, type RunFiles } from '../run/partial-folder.ts';
import type { ModelResult, TrainingResult } from './training-result.ts';
import type { FinishedTraining } from './training-run.ts';

/** The methods of a model as a run's arms are written, so that what reads those reads these. */
function listMethodArms({ name: model, methods }: Pick<ModelResult, 'name' | 'methods'>) {
  return methods.map(({ name, metrics, comparisons, holes }) => ({
    name: `${model}, ${name}`,
    tuned: {},
    metrics,
    comparisons,
    holes,
  }));
}

function summariseModel(model: ModelResult) {
  const { name, file, measured, point, epochs, calibration, importance, controls, folds, searches } = model;
  const outer = folds.map(({ clusters, point, epochs }) => ({ clusters, point, epochs }));
  return {
    name,
    file,
    baseline: `${name}, ${model.baseline}`,
    measured,
    intervals: chooseIntervalMethod(measured.conversations),
    point,
    epochs,
    folds: outer,
    searches,
    calibration,
    importance,
    controls,
  };
}

/** The text of metrics.json. */
function formatTrainingMetrics(result: TrainingResult): string {
  const { name, hash, queries, conversations, metrics, level, poolRecall, models, users, transfer } = result;
  const { turns: _, ...dataset } = result.dataset;
  const [first] = models as [ModelResult, ...ModelResult[]];
  const statistics = { test: 'permutation', correction: 'holm', samples: result.config.evaluation.samples, level };
  const content = {
    experiment: name,
    hash,
    queries,
    conversations,
    baseline: `${first.name}, ${first.baseline}`,
    metrics,
    statistics,
    poolRecall,
    arms: [...models, ...(users === undefined ? [] : [{ name: 'users', methods: users.methods }])].flatMap(
      listMethodArms,
    ),
    models: models.map(summariseModel),
    users: users && { ...users, methods: undefined, baseline: `users, ${users.baseline}` },
    transfer,
    dataset,
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

function formatTrainingStrata({ strata, models }: TrainingResult): string {
  const divisions = strata.map(({ levels, ...stratum }) => ({
    ...stratum,
    levels: levels.map(({ name, queries }) => ({ name, queries: queries.length })),
  }));
  const values = models.flatMap(({ name, methods }) =>
    methods.map((method) => [`${name}, ${method.name}`, method.strata]),
  );
  return `${JSON.stringify({ strata: divisions, arms: Object.fromEntries(values) })}\n`;
}

/** The files of a training besides its tables and its weights. */
export function buildTrainingFiles({ result, users, runs, qrels }: FinishedTraining): RunFiles {
  const trec = [...runs].map(([name, run]) => [
    `runs/${formatFileName(name)}.trec`,
    formatRun(run, formatFileName(name)),
  ]);
  return {
    'config.yaml': yaml().stringify(result.config),
    'environment.json': `${JSON.stringify(result.environment, null, 2)}\n`,
    'metrics.json': formatTrainingMetrics(result),
    'strata.json': formatTrainingStrata(result),
    'qrels.trec': encodeQrels(qrels),
    ...Object.fromEntries(trec),
    ...(users === null || result.users === undefined ? {} : { [result.users.file]: formatUserWeights(users) }),
  };
}

/**
 * Puts `<results>/<name>-<hash>/` in place as a whole. Figures of earlier weights on the test split are removed with
 * them. The list of looks beside the folder still counts that look, since the same config makes the same weights.
 *
 * @param tables the rendered tables of the result, by file name.
 * @returns the folder.
 * @throws StorageError naming the folder; UnavailableError while another process writes it.
 */
export function writeTrainingFolder(results: string, finished: FinishedTraining, tables: RunFiles): string {
  const { name, hash } = finished.result;
  const folder = PartialFolder.open(resolve(results, `${name}-${hash}`), 'fresh');
  try {
    for (const [file, weights] of finished.weights) writeWeights(join(folder.path, file), weights);
    folder.finish({ ...buildTrainingFiles(finished), ...tables });
  } catch (error) {
    folder.remove();
    throw error;
  }
  return folder.target;
}
