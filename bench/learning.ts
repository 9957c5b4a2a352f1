import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { ValidationError } from '../src/core/errors/errors.ts';
import { BACKENDS, type BackendChoice, useBackend } from '../src/core/tensors/backend.ts';
import type { FeatureTable } from '../src/rank/learning/feature-table.ts';
import type { LinearModel } from '../src/rank/learning/linear-model.ts';
import { type TrainingOptions, train } from '../src/rank/learning/training.ts';
import type { StepPlace } from '../src/rank/learning/training-steps.ts';
import { parsePositiveOption } from './integer-option.ts';
import { runTorchLearning } from './learning-peer.ts';
import { drawLearningWorkload, LEARNING_RATE, type LearningRow, type LearningSettings } from './learning-workload.ts';
import { findTorch } from './peers/process.ts';
import { formatTextTable } from './text-table.ts';
import { timeRepeats } from './timing.ts';

export const LEARNING_USAGE = `learning [options]   time of training a linear mix of signals by listwise cross-entropy with Adam, with steps on the host and on the device, beside the same in torch 2, which it installs into a virtual environment where python3 has none
    --queries Q        (default 10000)
    --candidates C     of a query (default 100)
    --signals F        (default 16)
    --epochs E         (default 100)
    --batch B          queries in a step, without a peer (default all of them)
    --repeats R        of which the fastest counts, as others may use the machine (default 3)
    --peer P           torch, none (default torch)
    --seed S           (default 7)
    --backend B        auto, ${BACKENDS.join(', ')} (default auto)`;

const PEERS = ['torch', 'none'] as const;

/** Listwise cross-entropy with Adam. */
export function buildTrainingOptions({ epochs, batch = null, seed }: LearningSettings): TrainingOptions {
  const shared = { learningRate: LEARNING_RATE, l2: 0, batchSize: batch, startNoise: 0 };
  return { ...shared, epochs, patience: epochs, seed, loss: { name: 'listwise', temperature: 1 } };
}

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
  const { settings, peer, backend: choice } = parseOptions(args);
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
  const python = peer === 'torch' && batch === null ? findTorch() : undefined;
  if (python !== undefined && 'versions' in python) rows.push(runTorchLearning(python, settings, table, model));
  console.log(`\n${formatLearningTable(rows)}\n`);
  const product = (4 * queries * candidates * signals) / 1e6;
  console.log(
    `an epoch: products of ${product.toFixed(1)} million operations, forward and back, and the softmax of every pair`,
  );
  console.log(`load at the end ${loadavg()[0]?.toFixed(1)}`);
  if (python === undefined) console.log(batch === null ? 'no peer was asked for' : 'no peer takes these batches');
  else console.log('versions' in python ? `peer: ${python.versions}, one thread` : `no peer: ${python.missing}`);
}

function parseOptions(args: readonly string[]): {
  settings: LearningSettings;
  peer: (typeof PEERS)[number];
  backend: BackendChoice;
} {
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
      peer: describeTextOption('torch'),
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
  const peer = PEERS.find((name) => name === values.peer);
  if (peer === undefined) throw new ValidationError(`unknown --peer: ${values.peer}; use one of ${PEERS.join(', ')}`);
  return { settings, peer, backend: values.backend as BackendChoice };
}

/** Seconds, and how many times as fast as torch. */
export function formatLearningTable(rows: readonly LearningRow[]): string {
  const torch = rows.find(({ name }) => name === 'torch');
  const header = ['training', 'epochs', 'seconds', 'ms/epoch', 'first loss', 'last loss', 'times faster than torch'];
  const lines = rows.map(({ name, epochs, seconds, firstLoss, lastLoss }) => [
    name,
    `${epochs}`,
    seconds.toFixed(3),
    ((1000 * seconds) / epochs).toFixed(1),
    firstLoss.toFixed(5),
    lastLoss.toFixed(5),
    torch === undefined ? '-' : (torch.seconds / seconds).toFixed(2),
  ]);
  return formatTextTable(header, lines);
}
