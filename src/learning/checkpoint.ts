import { z } from 'zod';
import { ValidationError } from '../core/errors.ts';
import { readCheckedSafetensors, type TensorData, writeSafetensors } from '../core/safetensors.ts';
import { parse } from '../core/validation.ts';
import type { CurvePoint, TrainingState } from './training.ts';

const FORMAT = 'ragpp-checkpoint-1';

const metadataSchema = z.object({
  format: z.literal(FORMAT),
  key: z.string(),
  step: z.coerce.number().int().nonnegative(),
  bestEpoch: z.coerce.number().int().nonnegative(),
});

/** null, which no float is, as one that no loss is. */
const ofNull = (value: number | null) => value ?? Number.NaN;
const toNull = (value: number | undefined) => (value === undefined || Number.isNaN(value) ? null : value);

/** Writes a state of training; whole or not at all. */
export function writeCheckpoint(path: string, { key, theta, adam, best, curve }: TrainingState): void {
  const vector = (data: Float64Array) => ({ shape: [data.length], data });
  writeSafetensors(path, {
    tensors: {
      theta: vector(theta),
      first: vector(adam.first),
      second: vector(adam.second),
      best: vector(best.theta),
      losses: vector(Float64Array.from(curve, ({ loss }) => ofNull(loss))),
      validations: vector(Float64Array.from(curve, ({ validation }) => ofNull(validation))),
    },
    metadata: { format: FORMAT, key, step: String(adam.step), bestEpoch: String(best.epoch) },
  });
}

/** @throws StorageError, ChecksumMismatchError for a damaged file, ConfigurationError or ValidationError for one of another kind. */
export function readCheckpoint(path: string): TrainingState {
  const { tensors, metadata } = readCheckedSafetensors(path, 'delete it to train from the start');
  const { key, step, bestEpoch } = parse(metadataSchema, metadata, path);
  const numbers = (name: string): Float64Array => {
    const data: TensorData | undefined = tensors[name]?.data;
    if (!(data instanceof Float64Array))
      throw new ValidationError(`checkpoint ${path} has no float64 numbers: ${name}; delete the file`);
    return data;
  };
  const validations = numbers('validations');
  const curve = Array.from(
    numbers('losses'),
    (loss, epoch): CurvePoint => ({ epoch, loss: toNull(loss), validation: toNull(validations[epoch]) }),
  );
  return {
    key,
    theta: numbers('theta'),
    adam: { step, first: numbers('first'), second: numbers('second') },
    best: { epoch: bestEpoch, theta: numbers('best') },
    curve,
  };
}
