import { z } from 'zod';
import { encoderOptions } from '../../embedding/registry.ts';
import { assertRetriever, retrieverOptions } from '../../retrieval/retriever-options.ts';
import { formatFileName } from './arms.ts';
import { CONFIG_LIMITS } from './config-limits.ts';

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

export const armOptions = retrieverOptions
  .extend({
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
  })
  .superRefine(assertRetriever)
  .superRefine(assertControlled)
  .superRefine(assertFixedSlice);

/**
 * A checked arm of an experiment: the options of its retriever, its name, its encoder and seed (by default those of the experiment), and the values to
 * tune on dev.
 */
export type ArmOptions = z.output<typeof armOptions>;

/** What the base of a config may set for the arms that start from it. */
export const baseOptions = retrieverOptions.extend(encodingOptions).omit({ control: true }).partial();
