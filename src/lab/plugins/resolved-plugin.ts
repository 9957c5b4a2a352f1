import { z } from 'zod';

/** A plugin of a resolved config. */
export const resolvedPlugin = z.strictObject({
  name: z.string(),
  version: z.string(),
  /** Of the code that the module reaches. */
  hash: z.string(),
  /** From the working directory; null for a plugin that a program passed as an object. */
  module: z.string().nullable().default(null),
});
export type ResolvedPlugin = z.output<typeof resolvedPlugin>;

/** The plugins of a config as written: modules by their paths, relative to the file. */
export const writtenPlugins = z.array(z.union([z.string().min(1), resolvedPlugin]));
