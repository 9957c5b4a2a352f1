import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { BACKENDS, type BackendChoice, useBackend } from '../src/core/tensors/backend.ts';
import type { FeatureTable } from '../src/rank/learning/feature-table.ts';
import type { LinearModel } from '../src/rank/learning/linear-model.ts';
import { train } from '../src/rank/learning/training.ts';
import type { StepPlace } from '../src/rank/learning/training-steps.ts';
import { parsePositiveOption } from './integer-option.ts';
import {
  buildTrainingOptions,
  drawLearningWorkload,
  type LearningRow,
  type LearningSettings,
} from './learning-workload.ts';
import { formatTextTable } from './text-table.ts';
import { timeRepeats } from './timing.ts';

export const LEARNING_USAGE = `learning [options]   time of training a linear mix of signals by listwise cross-entropy with Adam, with steps on the host and on the device; bench peers has the comparison with torch
    --queries Q        (default 10000)
    --candidates C     of a query (default 100)
    --signals F        (default 16)
    --epochs E         (default 100)
    --batch B          queries in a step (default all of them)
    --repeats R        of which the fastest counts, as others may use the machine (default 3)
    --seed S           (default 7)
    --backend B        auto, ${BACKENDS.join(', ')} (default auto)`;

/** Trains from the start, several times. */
export async function measureLearning(
  settings: LearningSettings,
  table: FeatureTable,
  model: LinearModel,
  steps: StepPlace,
): Promise<LearningRow> {
  const { fastest, result } = await timeRepeats(settings.repeats, () =>
    train(model, table, null, { ...buildTrainingOptions(settings), steps }),
  );
  const losses = result.curve.slice(1).map(({ loss }) => loss as number);
  return {
    name: `steps on the ${steps}`,
    epochs: settings.epochs,
    seconds: fastest / 1000,
    firstLoss: losses[0]!,
    lastLoss: losses.at(-1)!,
  };
}

/** Prints the table of the bench. */
export async function benchLearning(args: readonly string[]): Promise<void> {
  const { settings, backend: choice } = parseOptions(args);
  const backend = await useBackend(choice);
  const { queries, candidates, signals, epochs, batch = null, seed, repeats } = settings;
  const machine = `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores`;
  console.log(`machine: ${machine}; load ${loadavg()[0]?.toFixed(1)}; node ${process.version}; backend ${backend}`);
  console.log(`data: ${queries} queries x ${candidates} candidates x ${signals} signals, seed ${seed}`);
  const taken = batch === null ? 'all queries' : `${batch} queries`;
  console.log(`training: ${epochs} epochs of Adam, ${taken} in a step; the fastest of ${repeats}`);
  const { table, model } = drawLearningWorkload(settings);
  const rows: LearningRow[] = [];
  for (const steps of ['host', 'device'] as const) rows.push(await measureLearning(settings, table, model, steps));
  console.log(`\n${formatLearningTable(rows)}\n`);
  const product = (4 * queries * candidates * signals) / 1e6;
  console.log(
    `an epoch: products of ${product.toFixed(1)} million operations, forward and back, and the softmax of every pair`,
  );
  console.log(`load at the end ${loadavg()[0]?.toFixed(1)}`);
}

function parseOptions(args: readonly string[]): { settings: LearningSettings; backend: BackendChoice } {
  const describeTextOption = (value: string) => ({ type: 'string' as const, default: value });
  const { values } = parseArgs({
    args: [...args],
    options: {
      queries: describeTextOption('10000'),
      candidates: describeTextOption('100'),
      signals: describeTextOption('16'),
      epochs: describeTextOption('100'),
      batch: { type: 'string' },
      repeats: describeTextOption('3'),
      seed: describeTextOption('7'),
      backend: describeTextOption('auto'),
    },
  });
  const { batch, ...texts } = values;
  const parseLearningInteger = (name: keyof typeof texts) => parsePositiveOption(name, texts[name]);
  const settings = {
    queries: parseLearningInteger('queries'),
    candidates: parseLearningInteger('candidates'),
    signals: parseLearningInteger('signals'),
    epochs: parseLearningInteger('epochs'),
    batch: batch === undefined ? null : parsePositiveOption('batch', batch),
    repeats: parseLearningInteger('repeats'),
    seed: parseLearningInteger('seed'),
  };
  return { settings, backend: values.backend as BackendChoice };
}

/** Seconds and losses. */
export function formatLearningTable(rows: readonly LearningRow[]): string {
  const header = ['training', 'epochs', 'seconds', 'ms/epoch', 'first loss', 'last loss'];
  const lines = rows.map(({ name, epochs, seconds, firstLoss, lastLoss }) => [
    name,
    `${epochs}`,
    seconds.toFixed(3),
    ((1000 * seconds) / epochs).toFixed(1),
    firstLoss.toFixed(5),
    lastLoss.toFixed(5),
  ]);
  return formatTextTable(header, lines);
}
