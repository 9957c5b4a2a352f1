import { z } from 'zod';
import { loadConfig } from '../../src/lab/config/config.ts';
import { formatDecimal } from '../../src/lab/report/tables/format.ts';
import { createModelMaker, listFittingPoints, listSeeds } from '../../src/lab/training/fitted-methods.ts';
import { LearningTask } from '../../src/lab/training/learning-task.ts';
import { readTraining } from '../../src/lab/training/training-config.ts';
import { fitModel } from '../../src/rank/learning/fitting.ts';
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
      const most = Math.max(...given.epochs);
      const stage = progress('trainings', folds.length * points.length);
      const sums = points.map(() => new Float64Array(most + 1));
      let done = 0;
      for (const { training, heldOut, clusters } of folds) {
        const rows = await task.features.gatherRowsFor(training, clusters);
        const held = await task.features.gatherRowsFor(heldOut, clusters);
        const model = createModelMaker(config.fit.model, config.fit.normalise)(rows);
        for (const [p, point] of points.entries()) {
          const [seed = config.seed] = listSeeds(config);
          const options = { ...point.training, metric, epochs: most, patience: most + 1, seed };
          const { curve } = await fitModel(model, rows, held, options);
          for (const [epoch, { validation }] of curve.entries()) sums[p]![epoch]! += validation! * heldOut.length;
          stage.update(++done);
        }
      }
      stage.finish(`${done} trainings`);
      const means = sums.map((sum) => [...sum].map((value) => value / task.table.queryIds.length));
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
