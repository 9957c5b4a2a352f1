import { z } from 'zod';
import { loadConfig } from '../../src/lab/config/config.ts';
import { formatDecimal } from '../../src/lab/report/tables/format.ts';
import { createModelMaker, listFittingPoints, listSeeds } from '../../src/lab/training/fitted-methods.ts';
import { LearningTask } from '../../src/lab/training/learning-task.ts';
import { readTraining } from '../../src/lab/training/training-config.ts';
import type { SelectionPlan } from '../../src/rank/learning/cross-validation.ts';
import type { FeatureSource } from '../../src/rank/learning/feature-table.ts';
import { fitModel, type HyperParameters } from '../../src/rank/learning/fitting.ts';
import { splitByCluster } from '../../src/rank/learning/folds.ts';
import type { Study } from '../study.ts';
import { formatPipeTable } from '../text-table.ts';

const settings = z.strictObject({
  seed: z.int().default(20260101),
  /** A config whose fit is by gradients. */
  config: z.string().min(1).default('configs/learning/locomo.yaml'),
  path: z.string().min(1).default('locomo10.json'),
  /** Numbers of epochs to show. */
  epochs: z.array(z.int().min(0)).min(1).default([0, 5, 6, 7, 10, 11, 13, 16, 20, 26, 30]),
});

/**
 * The metric of each training on held-out conversations after each epoch, [trainings][epochs + 1]: the mean over all
 * questions, each by weights that have not seen its conversation.
 */
export async function measureEpochs(
  source: FeatureSource,
  trainings: readonly HyperParameters[],
  { modelOf, metric, epochs, seed }: EpochOptions,
  onTraining: (done: number) => void = () => {},
): Promise<number[][]> {
  const sums = trainings.map(() => new Float64Array(epochs + 1));
  let done = 0;
  for (const { training, heldOut, clusters } of splitByCluster(source)) {
    const rows = await source.gatherRowsFor(training, clusters);
    const held = await source.gatherRowsFor(heldOut, clusters);
    const model = modelOf(rows);
    for (const [t, given] of trainings.entries()) {
      const options = { ...given, metric, epochs, patience: epochs + 1, seed };
      const { curve } = await fitModel(model, rows, held, options);
      for (const [epoch, { validation }] of curve.entries()) sums[t]![epoch]! += validation! * heldOut.length;
      onTraining(++done);
    }
  }
  return sums.map((sum) => [...sum].map((value) => value / source.clusters.length));
}

interface EpochOptions extends Pick<SelectionPlan, 'modelOf'> {
  readonly metric: string;
  readonly epochs: number;
  readonly seed: number;
}

/** Tells how much the moment at which a training stops matters on conversations that it has not seen. */
export const stopping: Study<typeof settings> = {
  name: 'stopping',
  description: 'a metric on held-out conversations after each epoch of a fit, for each penalty',
  settings,
  measure: async (given, { cacheFolder, progress }) => {
    const config = readTraining(loadConfig(given.config, [`dataset.path=${given.path}`]));
    const [metric = ''] = config.evaluation.metrics;
    const task = await LearningTask.open(config, { cacheFolder, progress });
    try {
      const folds = splitByCluster(task.table);
      const points = listFittingPoints(config);
      const [seed = config.seed] = listSeeds(config);
      const modelOf = createModelMaker(config.fit.model, config.fit.normalise);
      const stage = progress('trainings', folds.length * points.length);
      const means = await measureEpochs(
        task.features,
        points.map(({ training }) => training),
        { modelOf, metric, epochs: Math.max(...given.epochs), seed },
        (done) => stage.update(done),
      );
      stage.finish(`${folds.length * points.length} trainings`);
      const shown = (values: readonly number[]) => given.epochs.map((epoch) => formatDecimal(values[epoch]!, 3));
      return {
        dataset: { name: task.dataset.name, hash: task.dataset.hash },
        figures: { metric, points: points.map(({ point }, p) => ({ point, means: means[p] })) },
        sections: [
          formatPipeTable({
            head: ['epochs', ...given.epochs.map(String)],
            rows: points.map(({ point }, p) => [
              Object.entries(point)
                .map(([name, value]) => `${name} ${value}`)
                .join(', '),
              ...shown(means[p]!),
            ]),
          }),
          `${metric} on held-out conversations: ${task.table.queryIds.length} questions, ${folds.length} folds of a conversation each. A figure here chose its epoch by the questions that it is measured on: only the spread is of use.`,
        ],
      };
    } finally {
      task.dispose();
    }
  },
};
