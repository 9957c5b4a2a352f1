import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { readText } from '../../core/files/files.ts';
import { parse } from '../../core/validation/validation.ts';
import { STRATEGY_NAMES, type StrategyName } from '../query/strategy.ts';
import { MEMORY_SIGNALS, type MemorySignal, type MemorySignals } from '../signals/memory-signals.ts';
import { provenanceSchema } from './weight-file.ts';

const FORMAT = 'ragpp-user-weights-1';

const learned = z.strictObject({
  weights: z.record(z.enum(MEMORY_SIGNALS as readonly MemorySignal[] as [MemorySignal, ...MemorySignal[]]), z.number()),
  questions: z.int().min(1),
  share: z.number().gt(0).lt(1),
});

const userWeightsFile = z.strictObject({
  format: z.literal(FORMAT),
  provenance: provenanceSchema,
  users: z.record(z.string().min(1), z.partialRecord(z.enum(STRATEGY_NAMES), learned)),
});
/** Learned weights of the strategies of users, by user and strategy, and where they come from. A strategy of a user with too few questions is absent. */
export type UserWeights = Omit<z.output<typeof userWeightsFile>, 'format'>;

/** The text of a file that {@link readUserWeights} reads. */
export function formatUserWeights(weights: UserWeights): string {
  return `${JSON.stringify({ format: FORMAT, ...weights }, null, 2)}\n`;
}

/** @throws StorageError for a file that cannot be read; ValidationError, ConfigurationError for one that no fit left. */
export function readUserWeights(path: string): UserWeights {
  const text = readText(path);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new ValidationError(
      `not a file of users' weights: ${path}; name users.json of a training`,
      { path },
      { cause: error },
    );
  }
  const { format: _, ...weights } = parse(userWeightsFile, json, path);
  return weights;
}

/** By user, then by strategy: what `users` of the signal `strategy` takes. */
export function listUserWeights({
  users,
}: Pick<UserWeights, 'users'>): Record<string, Partial<Record<StrategyName, MemorySignals>>> {
  return Object.fromEntries(
    Object.entries(users).map(([user, own]) => [
      user,
      Object.fromEntries(Object.entries(own).map(([strategy, { weights }]) => [strategy, weights])),
    ]),
  );
}
