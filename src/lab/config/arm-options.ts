import { z } from 'zod';
import { encoderOptions } from '../../index/encoders/registry.ts';
import { createArmSchema, type RankOptions } from '../../rank/retrieval/written-steps.ts';
import { controlOptions } from '../../rank/signals/worlds/control-options.ts';
import { formatFileName } from '../composition/arms.ts';
import { CONFIG_LIMITS } from '../composition/config-limits.ts';

/** Free text for tables; {@link formatFileName} makes the run file's name of it. */
export const armName = z
  .string()
  .max(CONFIG_LIMITS.armNameCharacters)
  .refine((name) => formatFileName(name) !== '', 'a name with a letter or digit');

/** The options that make an arm a null control. */
function assertControlled(
  { control, extends: parent }: { readonly control: unknown; readonly extends?: string | undefined },
  context: z.core.$RefinementCtx,
): void {
  if (control !== null && parent === undefined)
    context.addIssue({ code: 'custom', path: ['control'], message: 'an arm that extends the one that it controls' });
}

/** What a query may see is a rule and no hyper-parameter. */
function assertFixedSlice(
  { tune }: { readonly tune: Readonly<Record<string, unknown>> },
  context: z.core.$RefinementCtx,
): void {
  for (const path of Object.keys(tune))
    if (path.split('.')[0] === 'slice')
      context.addIssue({
        code: 'custom',
        path: ['tune', path],
        message: 'no slice, which is not tuned; write an arm for each policy',
      });
}

/** Options of the experiment that an arm may have for itself; null for those of the experiment. */
export const encodingOptions = {
  embedding: encoderOptions.nullable().default(null),
  /** Of encoder, indexes and null control. Queries are drawn, and tests resampled, by the experiment's. */
  seed: z.int().nullable().default(null),
};

/** What an arm has besides the options that decide how it ranks. */
const armShape = {
  name: armName,
  description: z.string().default(''),
  extends: armName.optional(),
  ...encodingOptions,
  /** Path within the arm -> the values to try on dev. */
  tune: z.record(z.string(), z.array(z.unknown()).min(1)).default({}),
  /** Of an arm that a sweep generated: factor -> level. */
  levels: z.record(z.string(), z.string()).nullable().default(null),
  /** The arm that this one is a repetition of, with another seed. Written by `seeds`. */
  repeats: armName.nullable().default(null),
  /** The paths that the arm changes from its start, listed in its name. Tuned values of the arm it extends are not reused at these paths. */
  differences: z.array(z.string()).default([]),
};

/**
 * A checked arm of an experiment: its steps, its name, its encoder and seed (by default those of the experiment), and
 * the values to tune on dev.
 */
export type ArmOptions = RankOptions & z.output<z.ZodObject<typeof armShape>>;

/** The schema of an arm that is written out. */
export const armOptions = createArmSchema({ ...armShape, control: controlOptions.nullable().default(null) })
  .superRefine((arm, context) => assertControlled(arm as ArmOptions, context))
  .superRefine((arm, context) => assertFixedSlice(arm as ArmOptions, context)) as z.ZodType<
  ArmOptions,
  Record<string, unknown>
>;
