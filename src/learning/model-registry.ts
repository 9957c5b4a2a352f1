import { z } from 'zod';
import { ValidationError } from '../core/errors.ts';
import { nearestOf, parse } from '../core/validation.ts';
import { linearModel } from './linear-model.ts';
import type { ScoringModel } from './model.ts';
import { trajectoryModel } from './trajectory-model.ts';

const linearConfig = z.strictObject({
  signals: z.array(z.string()).min(1),
  nonNegative: z.array(z.string()),
  initial: z.record(z.string(), z.number()),
});

const trajectoryConfig = z.strictObject({
  dimensions: z.union([z.literal(3), z.literal(5), z.literal(7)]),
  self: z.enum(['include', 'exclude']),
});

type Constants = ScoringModel['constants'];

function numbers(constants: Constants, name: string): Float64Array {
  const found = constants[name];
  if (found === undefined)
    throw new ValidationError(`constants of the model are missing: ${name}; train the weights again`, { name });
  return found;
}

/** How each model is made again of its config and constants. */
const MODELS: Readonly<Record<string, (config: unknown, constants: Constants, source: string) => ScoringModel>> = {
  linear: (config, constants, source) =>
    linearModel(parse(linearConfig, config, source), {
      means: numbers(constants, 'means'),
      deviations: numbers(constants, 'deviations'),
    }),
  trajectory: (config, _, source) => trajectoryModel(parse(trajectoryConfig, config, source)),
};

/**
 * @param source who says so, for errors
 * @throws ValidationError for an unknown model, ConfigurationError for a config that is not its own.
 */
export function restoreModel(name: string, config: unknown, constants: Constants, source: string): ScoringModel {
  const make = Object.hasOwn(MODELS, name) ? MODELS[name] : undefined;
  if (make !== undefined) return make(config, constants, source);
  const known = Object.keys(MODELS);
  const nearest = nearestOf(name, known);
  const hint = nearest === undefined ? `one of ${known.join(', ')}` : nearest;
  throw new ValidationError(`unknown model in ${source}: ${name}; use ${hint}`, { name, known });
}
