import { z } from 'zod';
import { indexOptions } from '../../../index/registry.ts';
import { writtenFilter } from '../../../model/filter/filter-schema.ts';
import { PROPAGATION_PRESETS, propagationOptions } from '../../../ops/attention/options.ts';
import { fitOptions } from '../../learning/fit-options.ts';
import { SELECTIONS } from '../../rerank/registry.ts';
import { scoringOptions } from '../../signals/bank/options.ts';
import { decayOptions } from '../../signals/decay.ts';
import { strategyOptions } from '../../signals/strategy-options.ts';
import { fusionWeight, getMethodOptions, listMethods } from './fuse.ts';
import { BLENDS, listSelections, STEPS } from './keys.ts';
import { packOptions } from './select.ts';

const weight = z.number().min(0).max(1);

/** A mapping of some of the members, each by its name. */
const nameMembers = (members: readonly (readonly [string, z.ZodType])[]) =>
  z.strictObject(Object.fromEntries(members.map(([name, options]) => [name, options.optional()])));

/** One of several methods: its name alone, or with its options. */
function chooseMethod(
  members: readonly (readonly [string, z.ZodType])[],
  more: Readonly<Record<string, z.ZodType>> = {},
) {
  const [first, ...others] = members.map(([name]) => name);
  return z.union([z.enum([first as string, ...others]), nameMembers([...members, ...Object.entries(more)])]);
}

const createFuse = () =>
  chooseMethod(
    listMethods().map((method) => [method, z.object(getMethodOptions(method)).catchall(fusionWeight)] as const),
    { only: z.string() },
  );

const createSelection = (reranks: boolean) =>
  chooseMethod(
    listSelections(reranks).map((name) => {
      const { options } = SELECTIONS.get(name) as { readonly options: z.ZodObject };
      return [name, options.omit({ method: true })] as const;
    }),
  );

const { weights, origin } = strategyOptions.shape;
const mapping = z.record(z.string(), z.unknown());
/** Own weights are a mapping, those of users also the name of their file. */
const strategy = z.strictObject({
  weights: z.union([weights.unwrap().options[0], mapping]).default('by-question'),
  users: z.union([z.string(), mapping]).optional(),
  origin,
});

const mixOptions = scoringOptions.extend({
  weights: scoringOptions.shape.weights.optional(),
  fit: fitOptions.optional(),
});

/**
 * The options of each step as a config writes them, for the schemas of editors, with the members by their names.
 * Options that depend on the names of columns are checked only when the config is read.
 */
export function createWrittenOptions(): Readonly<Record<string, z.ZodType>> {
  const blends = Object.entries(BLENDS).map(([name, options]) => [name, z.union([weight, options])] as const);
  return {
    ...Object.fromEntries(STEPS.members.map(({ name, options }) => [name, options])),
    filter: writtenFilter,
    propagate: z.union([z.enum(Object.keys(PROPAGATION_PRESETS) as [string]), propagationOptions]),
    search: z.record(z.string().min(1), indexOptions),
    score: z
      .object({ cosine: z.strictObject({}).optional(), strategy: strategy.optional() })
      .catchall(z.record(z.string(), z.unknown())),
    fuse: createFuse(),
    mix: z.union([z.string().min(1), mixOptions]),
    decay: z.union([z.number().positive(), decayOptions]),
    blend: nameMembers(blends),
    rerank: createSelection(true),
    select: createSelection(false),
    pack: z.union([z.int().min(1), packOptions]),
  };
}
