import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { type FoundPython, runPeer } from '../../bench/peers/python.ts';
import { installPython } from '../../bench/peers/venv.ts';
import { UnavailableError } from '../../src/core/errors/errors.ts';
import { loadConfig } from '../../src/lab/config/config.ts';
import { buildSelectionPlan } from '../../src/lab/training/fitted-methods.ts';
import { LearningTask } from '../../src/lab/training/learning-task.ts';
import { readTraining, type TrainingConfig } from '../../src/lab/training/training-config.ts';
import { fitWithSelection } from '../../src/rank/learning/cross-validation.ts';
import type { FeatureTable } from '../../src/rank/learning/feature-table.ts';
import { drawBalancedFolds, type Fold, splitByCluster } from '../../src/rank/learning/folds.ts';
import { gatherSelectionRows } from '../../src/rank/learning/greedy-selection.ts';
import type { LinearModel } from '../../src/rank/learning/linear-model.ts';
import { scoreTable } from '../../src/rank/learning/model.ts';
import { listHandTunedValues } from '../../src/rank/learning/parameters.ts';
import { blendScores, type FoldScores, formatSystems, measureSystems } from '../beside-linear.ts';
import type { Study } from '../study.ts';

const settings = z.strictObject({
  seed: z.int().default(20260101),
  /** A config whose fit is linear. */
  config: z.string().min(1).default('configs/learning/late-locomo.yaml'),
  /** The data of the config. */
  path: z.string().min(1).default('locomo10.json'),
  /** Weights of another system beside the linear mix, both standardised over the candidates of a question. */
  shares: z.array(z.number().positive()).default([0.2, 0.5, 1]),
  /** The most trees; the inner folds stop earlier. */
  rounds: z.int().min(1).default(400),
});
type Settings = z.output<typeof settings>;

/** Scores of a fold with the number of its trees. */
type GrownFold = FoldScores & { readonly rounds: number };

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
): Promise<GrownFold> {
  const { model, values } = await fitWithSelection(task.features, fold, buildSelectionPlan(config));
  const training = await task.features.gatherRowsFor(fold.training, fold.clusters);
  const held = await task.features.gatherRowsFor(fold.heldOut, fold.clusters);
  const linear = await scoreTable(model, values, held);
  const grown = await growTrees(python, model as LinearModel, training, held, {
    ...options,
    innerFolds: config.fit.innerFolds,
  });
  const plan = buildSelectionPlan({ ...config, fit: { ...config.fit, select: null } });
  const whole = await fitWithSelection(task.features, fold, plan);
  const others = [
    ['trees', grown.scores],
    ['all signals', await scoreTable(whole.model, whole.values, held)],
  ] as const;
  const blends = others.flatMap((other) => blendScores(held, linear, other, shares));
  return { held, rounds: grown.rounds, scores: new Map([['linear', linear], ...others, ...blends]) };
}

/** Tells what gradient-boosted trees, and a mix of all signals, add to a mix of few, by conversations left out. */
export const trees: Study<typeof settings> = {
  name: 'trees',
  description:
    'gradient-boosted trees and a mix of all signals beside the linear mix of a fit, and with it, on the same folds',
  settings,
  measure: async (given, { cacheFolder, progress }) => {
    const python = installPython('trees-requirements.txt');
    if ('missing' in python) throw new UnavailableError('LightGBM', python.missing);
    const config = readTraining(loadConfig(given.config, [`dataset.path=${given.path}`]));
    const { metrics } = config.evaluation;
    const task = await LearningTask.open(config, { cacheFolder, progress });
    try {
      const folds: GrownFold[] = [];
      const conversations = splitByCluster(task.table);
      const stage = progress('folds', conversations.length);
      for (const fold of conversations) {
        folds.push(await scoreFold(python, task, config, fold, given));
        stage.update(folds.length);
      }
      stage.finish(`${folds.length} folds`);
      const systems = measureSystems(folds, metrics, given.seed);
      const { dataset, table } = task;
      return {
        dataset: { name: dataset.name, hash: dataset.hash },
        figures: { systems, rounds: folds.map(({ rounds }) => rounds), signals: table.signals.length },
        sections: [
          formatSystems(systems, metrics, folds.length),
          `${table.queryIds.length} questions, ${table.signals.length} signals, ${folds.length} folds of a conversation each; ${folds.map(({ rounds }) => rounds).join(', ')} trees, by ${config.fit.innerFolds} inner folds. After the difference: the conversations in which it is above 0. Brackets: 95 % intervals, clustered by conversation; nothing is corrected for ${systems.length - 1} systems. ${python.versions}.`,
        ],
      };
    } finally {
      task.dispose();
    }
  },
};
