import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { type FoundPython, runPeer } from '../../bench/peers/python.ts';
import { installPython } from '../../bench/peers/venv.ts';
import { UnavailableError } from '../../src/core/errors/errors.ts';
import { type Estimate, groupIntoClusters, meanIntervals } from '../../src/eval/intervals/mean-intervals.ts';
import { loadConfig } from '../../src/lab/config/config.ts';
import { estimate, formatDecimal, formatSigned } from '../../src/lab/report/tables/format.ts';
import { buildSelectionPlan } from '../../src/lab/training/fitted-methods.ts';
import { LearningTask } from '../../src/lab/training/learning-task.ts';
import { readTraining, type TrainingConfig } from '../../src/lab/training/training-config.ts';
import { fitWithSelection } from '../../src/rank/learning/cross-validation.ts';
import type { FeatureTable } from '../../src/rank/learning/feature-table.ts';
import { createTableMetric } from '../../src/rank/learning/fit-options.ts';
import { drawBalancedFolds, type Fold, splitByCluster } from '../../src/rank/learning/folds.ts';
import { gatherSelectionRows } from '../../src/rank/learning/greedy-selection.ts';
import type { LinearModel } from '../../src/rank/learning/linear-model.ts';
import { scoreTable } from '../../src/rank/learning/model.ts';
import { listHandTunedValues } from '../../src/rank/learning/parameters.ts';
import { standardiseQuestions } from '../../src/rank/signals/bank/normalisation.ts';
import type { Study } from '../study.ts';
import { formatPipeTable } from '../text-table.ts';

const settings = z.strictObject({
  seed: z.int().default(20260101),
  /** A config whose fit is linear. */
  config: z.string().min(1).default('configs/learning/late-locomo.yaml'),
  /** The data of the config. */
  path: z.string().min(1).default('locomo10.json'),
  /** Weights of the trees beside the linear mix, both standardised over the candidates of a question. */
  shares: z.array(z.number().positive()).default([0.2, 0.5, 1]),
  /** The most trees; the inner folds stop earlier. */
  rounds: z.int().min(1).default(400),
});
type Settings = z.output<typeof settings>;

/** The rows that a fold holds out, and their scores by each system. */
interface FoldScores {
  readonly held: FeatureTable;
  readonly rounds: number;
  readonly scores: ReadonlyMap<string, Float32Array>;
}

/** Standardises scores over the candidates of each question. @param scores row-major [Q, C] */
const standardiseScores = ({ width, mask }: FeatureTable, scores: Float32Array) =>
  standardiseQuestions({ values: scores, stride: 1, columns: [0], width, mask });

/** Grows trees on rows, and scores those that are held out. The inner folds choose the number of trees. */
export async function growTrees(
  python: FoundPython,
  model: LinearModel,
  training: FeatureTable,
  held: FeatureTable,
  { rounds, seed, innerFolds }: Pick<Settings, 'rounds' | 'seed'> & { readonly innerFolds: number },
) {
  const rough = await scoreTable(model, listHandTunedValues(model), training);
  const given = { seed, loss: { name: 'listwise', temperature: 1 } } as const;
  const { starts, columns, targets, queries } = await gatherSelectionRows(model, training, rough, given);
  const inner = new Int32Array(training.queryIds.length);
  for (const [fold, { heldOut }] of drawBalancedFolds(training, innerFolds, seed).entries())
    for (const row of heldOut) inner[row] = fold;
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-trees-'));
  const write = (name: string, data: Uint8Array | Int32Array | Float32Array) =>
    writeFileSync(join(folder, name), new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  try {
    const all = new Float32Array(columns.length * targets.length);
    for (const [f, column] of columns.entries()) all.set(column, f * targets.length);
    write('columns.f32', all);
    write(
      'relevant.u8',
      Uint8Array.from(targets, (target) => Number(target > 0)),
    );
    write('starts.i32', starts);
    write(
      'inner.i32',
      Int32Array.from(queries, (query) => inner[query] as number),
    );
    write('held.f32', model.standardise(held, model.signals));
    writeFileSync(join(folder, 'settings.json'), JSON.stringify({ signals: columns.length, innerFolds, rounds, seed }));
    const { rounds: grown } = runPeer<{ readonly rounds: number }>(python, 'trees.py', folder);
    const scores = new Float32Array(new Uint8Array(readFileSync(join(folder, 'scores.f32'))).buffer);
    return { rounds: grown, scores };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function scoreFold(
  python: FoundPython,
  task: LearningTask,
  config: TrainingConfig,
  fold: Fold,
  { shares, ...options }: Settings,
): Promise<FoldScores> {
  const { model, values } = await fitWithSelection(task.features, fold, buildSelectionPlan(config));
  const training = await task.features.gatherRowsFor(fold.training, fold.clusters);
  const held = await task.features.gatherRowsFor(fold.heldOut, fold.clusters);
  const linear = await scoreTable(model, values, held);
  const grown = await growTrees(python, model as LinearModel, training, held, {
    ...options,
    innerFolds: config.fit.innerFolds,
  });
  const trees = grown.scores;
  const [a, b] = [standardiseScores(held, linear), standardiseScores(held, trees)];
  const blends = shares.map(
    (share) => [`linear + ${share} trees`, a.map((score, pair) => score + share * b[pair]!)] as const,
  );
  return { held, rounds: grown.rounds, scores: new Map([['linear', linear], ['trees', trees], ...blends]) };
}

/** A system's means, and its differences from `linear` with the folds in which it is better. */
interface SystemFigures {
  readonly name: string;
  readonly means: readonly Estimate[];
  readonly differences: readonly (Estimate & { readonly better: number })[];
}

/** Measures each system on the rows that the folds hold out, and beside the system `linear`. */
export function measureSystems(
  folds: readonly FoldScores[],
  metrics: readonly string[],
  seed: number,
): SystemFigures[] {
  const clusters = groupIntoClusters(folds.flatMap(({ held }) => held.clusters));
  const measure = (name: string, metric: string) =>
    folds.map(({ held, scores }) => [...createTableMetric(held, metric).values(scores.get(name) as Float32Array)]);
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const summarise = (columns: readonly (readonly number[])[]) =>
    meanIntervals(
      columns.map((column) => Float64Array.from(column)),
      clusters,
      { samples: 10_000, level: 0.95, seed },
    );
  const [first = new Map()] = folds.map(({ scores }) => scores);
  return [...first.keys()].map((name) => {
    const own = metrics.map((metric) => measure(name, metric));
    const beside = metrics.map((metric) => measure('linear', metric));
    const differences = own.map((byFold, m) =>
      byFold.map((values, fold) => values.map((value, q) => value - (beside[m]?.[fold]?.[q] as number))),
    );
    const intervals = summarise(differences.map((byFold) => byFold.flat()));
    return {
      name,
      means: summarise(own.map((byFold) => byFold.flat())),
      differences: intervals.map((interval, m) => ({
        ...interval,
        better: (differences[m] ?? []).filter((values) => mean(values) > 0).length,
      })),
    };
  });
}

/** Tells what gradient-boosted trees add to a linear mix of the same signals, by conversations that neither has seen. */
export const trees: Study<typeof settings> = {
  name: 'trees',
  description: 'gradient-boosted trees beside the linear mix of a fit, and both together, on the same folds',
  settings,
  measure: async (given, { cacheFolder, progress }) => {
    const python = installPython('trees-requirements.txt');
    if ('missing' in python) throw new UnavailableError('LightGBM', python.missing);
    const config = readTraining(loadConfig(given.config, [`dataset.path=${given.path}`]));
    const { metrics } = config.evaluation;
    const task = await LearningTask.open(config, { cacheFolder, progress });
    try {
      const folds: FoldScores[] = [];
      const conversations = splitByCluster(task.table);
      const stage = progress('folds', conversations.length);
      for (const fold of conversations) {
        folds.push(await scoreFold(python, task, config, fold, given));
        stage.update(folds.length);
      }
      stage.finish(`${folds.length} folds`);
      const systems = measureSystems(folds, metrics, given.seed);
      const rows = systems.map(({ name, means, differences }) => [
        name,
        ...means.map((one) => estimate(one, formatDecimal, 2)),
        ...(name === 'linear'
          ? metrics.map(() => '')
          : differences.map((one) => `${estimate(one, formatSigned, 2)}, ${one.better} of ${folds.length}`)),
      ]);
      const head = ['system', ...metrics, ...metrics.map((metric) => `${metric}, minus linear`)];
      const { dataset, table } = task;
      return {
        dataset: { name: dataset.name, hash: dataset.hash },
        figures: { systems, rounds: folds.map(({ rounds }) => rounds), signals: table.signals.length },
        sections: [
          formatPipeTable({ head, rows }),
          `${table.queryIds.length} questions, ${table.signals.length} signals, ${folds.length} folds of a conversation each; ${folds.map(({ rounds }) => rounds).join(', ')} trees, by ${config.fit.innerFolds} inner folds. After the difference: the conversations in which it is above 0. Brackets: 95 % intervals, clustered by conversation; nothing is corrected for ${systems.length - 1} systems. ${python.versions}.`,
        ],
      };
    } finally {
      task.dispose();
    }
  },
};
