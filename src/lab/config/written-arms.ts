import { z } from 'zod';
import { STEPS } from '../../rank/retrieval/steps/keys.ts';
import { createWrittenOptions } from '../../rank/retrieval/steps/written-options.ts';
import { controlOptions } from '../../rank/signals/worlds/control-options.ts';
import { encodingOptions } from './arm-options.ts';

/** Steps that a later one of the same name may add to. */
const ADDED_TO: readonly string[] = ['search', 'score', 'mix', 'blend'];

/** Keys of an arm that is a mapping, besides its lists of steps. */
const armShape = {
  description: z.string().default(''),
  from: z.string().optional(),
  set: z.record(z.string(), z.unknown()).default({}),
  tune: z.record(z.string(), z.array(z.unknown()).min(1)).default({}),
  ...encodingOptions,
  control: controlOptions.nullable().default(null),
};

/** A name of its own for a step, beside it in its list. */
const stepName = z.string().optional();

/** The options of each step by its name. */
function createStepShape(): Record<string, z.ZodType> {
  const options = Object.entries(createWrittenOptions());
  return Object.fromEntries(options.map(([name, schema]) => [name, schema.optional()]));
}

/**
 * The schema of `arms` in a config file, for editors: a mapping from the name of an arm to its steps or to a mapping.
 * Built at each call, since plugins add members. `expandNamedArms` reads and checks the arms themselves.
 */
export function createWrittenArms(): z.ZodType {
  const steps = createStepShape();
  const added = ADDED_TO.map((name) => [`${name}+`, steps[name] as z.ZodType] as const);
  const step = z.strictObject({ ...steps, ...Object.fromEntries(added), as: stepName });
  const list = z.array(z.union([z.enum(STEPS.names as [string]), step])).min(1);
  const arm = z.strictObject({ ...armShape, steps: list.optional(), then: list.optional() });
  return z.record(z.string().min(1), z.union([list, arm]));
}

/** The keys of an arm and of its steps side by side: each has one row in a reference. */
export function createArmKeys(): z.ZodType {
  const list = z.array(z.unknown()).min(1);
  const shape = { ...armShape, steps: list.optional(), then: list.optional() };
  return z.record(z.string(), z.strictObject({ ...shape, ...createStepShape(), as: stepName }));
}
