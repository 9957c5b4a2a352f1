import { z } from 'zod';
import { Registry } from '../../../core/validation/registry.ts';
import { createOpenSchema, parse, parsePart } from '../../../core/validation/validation.ts';
import { type IndexOptions, indexOptions } from '../../../index/registry.ts';
import { sliceOptions } from '../../../kernel/slices/slice-options.ts';
import { formatFilter, readWrittenFilter, writtenFilter } from '../../../model/filter/filter-schema.ts';
import { PROPAGATION_PRESETS, propagationOptions } from '../../../ops/attention/options.ts';
import { fitOptions, fittedMixOptions } from '../../learning/fit-options.ts';
import { isReranking, SELECTIONS, type SelectionOptions, selectionOptions } from '../../rerank/registry.ts';
import { scoringOptions } from '../../signals/bank/options.ts';
import { boostOptions } from '../../signals/boost.ts';
import { decayOptions } from '../../signals/decay.ts';
import { ADDED_SIGNALS } from '../../signals/signal.ts';
import {
  attentionOptions,
  curationArmOptions,
  strategyOptions,
  trajectoryOptions,
} from '../../signals/signal-options.ts';
import { blendWithAttention, blendWithTrajectory, boost, curate, decay, type MixOptions, mix } from './change.ts';
import { checkFusion, createFusion, fuse, fuseOptions, fusionWeight, getMethodOptions, listMethods } from './fuse.ts';
import {
  type AddFault,
  addUnknownKey,
  checkBlend,
  checkMix,
  checkScore,
  checkSearch,
  type ScoreOptions,
  type SearchOptions,
  SOURCE_COLUMN_NAMES,
  score,
  search,
  withoutNulls,
} from './search.ts';
import { pack, packOptions, select } from './select.ts';
import type { ArmState, Outline, Step, StepOf } from './step.ts';
import { filter, propagate, slice } from './visible.ts';

/** A step as a config writes it: the schema of its options, and the steps that they become. */
export interface StepKey {
  readonly name: string;
  /** The row of docs/arms.md. */
  readonly summary: string;
  /** Options as written, to which defaults are added; what it gives is written the same way. */
  readonly options: z.ZodType;
  /** The states before the step and after it. */
  readonly takes: Step['takes'];
  readonly gives: Step['gives'];
  /**
   * @param before what the steps before it say.
   * @param name its own in the arm; undefined where it is that of the key.
   */
  create(options: never, before: Outline, name?: string): readonly Step[];
  /** Faults that depend on the steps before. */
  check?(options: never, before: Outline, fault: AddFault): void;
}

export function defineKey<S extends z.ZodType, O>(
  name: string,
  options: S,
  step: StepOf<O>,
  create: (options: z.output<S>, before: Outline, name?: string) => readonly Step[],
  checkOptions?: (options: z.output<S>, before: Outline, fault: AddFault) => void,
  summary = step.definition.summary,
): StepKey {
  const { takes, gives } = step.definition;
  const own = { name, summary, options, takes, gives, create: create as StepKey['create'] };
  return checkOptions === undefined ? own : { ...own, check: checkOptions as NonNullable<StepKey['check']> };
}

const writtenParts = z.record(z.string().min(1), z.unknown());

const filterText = writtenFilter.transform((written, context) => {
  const tree = readWrittenFilter(written, context);
  return context.issues.length > 0 ? z.NEVER : formatFilter(tree);
});

type Preset = keyof typeof PROPAGATION_PRESETS;
const propagateOptions = z.union([
  z.enum(Object.keys(PROPAGATION_PRESETS) as Preset[]).transform((preset) => PROPAGATION_PRESETS[preset]),
  propagationOptions,
]);

/** Sources by name; a source whose name is an index need not name it again. */
const searchOptions = writtenParts
  .transform((parts, context): SearchOptions => {
    const named: Record<string, IndexOptions> = {};
    for (const [name, written] of Object.entries(withoutNulls(parts)))
      named[name] = parsePart(indexOptions, withName('index', name, written), [name], context) as IndexOptions;
    return named;
  })
  .refine((named) => Object.keys(named).length > 0, 'at least one source');

/** Options with the name of their member, which is that of their place unless they have another. */
function withName(key: string, name: string, written: unknown): unknown {
  const isMapping = written !== null && typeof written === 'object' && !Array.isArray(written);
  return isMapping ? { [key]: name, ...written } : written;
}

/** Weights, or their fit; a fit that is null is left out. */
const mixOptions = z.unknown().transform((written, context): MixOptions => {
  const { fit = null, ...weighed } = { ...(written as { readonly fit?: unknown }) };
  const isMapping = written !== null && typeof written === 'object';
  return fit === null
    ? parsePart(scoringOptions, isMapping ? weighed : written, [], context)
    : parsePart(fittedMixOptions, written, [], context);
});

export const SCORE_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  cosine: z.strictObject({}),
  strategy: strategyOptions,
};

/** The names that columns have without plugins, unless a source is given another name. */
export const COLUMN_NAMES: readonly string[] = [...Object.keys(SCORE_SCHEMAS), ...SOURCE_COLUMN_NAMES];

/** The signals that the step `score` may add. */
export const listScoreNames = (): string[] => [...Object.keys(SCORE_SCHEMAS), ...ADDED_SIGNALS.names];

const scoreOptions = writtenParts.transform((parts, context): ScoreOptions => {
  const named: Record<string, Readonly<Record<string, unknown>>> = {};
  for (const [name, written] of Object.entries(withoutNulls(parts))) {
    const schema = SCORE_SCHEMAS[name] ?? ADDED_SIGNALS.find(name)?.options;
    if (schema === undefined) addUnknownKey(name, listScoreNames(), context);
    else named[name] = parsePart(schema, written, [name], context) as Readonly<Record<string, unknown>>;
  }
  return named;
});

/** Attention without its mechanism, which the key of the blend names, and the coordinates that TPO and the mix compare. */
const attentionBlend = attentionOptions.omit({ mechanism: true }).extend({ coordinates: trajectoryOptions.optional() });
type AttentionBlendOptions = z.output<typeof attentionBlend>;
const MECHANISMS = attentionOptions.shape.mechanism.options;
const BLENDS: Readonly<Record<string, z.ZodType>> = {
  trajectory: trajectoryOptions,
  ...Object.fromEntries(MECHANISMS.map((mechanism) => [mechanism, attentionBlend])),
};

/** A number is the weight alone. */
const withDefaults = (schema: z.ZodType) =>
  z
    .number()
    .min(0)
    .max(1)
    .transform((weight) => parse(schema, { weight }, 'the blends of an arm'));

/** The names of blends in the order of their application: that of a resolved arm, then the written one. */
function orderBlends({ order, ...parts }: Readonly<Record<string, unknown>>): string[] {
  const first = Array.isArray(order) ? order.filter((name: string) => Object.hasOwn(parts, name)) : [];
  return [...new Set([...first, ...Object.keys(parts)])];
}

/** Several blends have their order beside them, since a hash does not depend on the order of keys, and scores do. */
const blendOptions = writtenParts.transform((written, context) => {
  const parts = withoutNulls(written);
  const blends: Record<string, unknown> = {};
  const names = orderBlends(parts);
  for (const name of names) {
    const written = parts[name];
    const schema = BLENDS[name];
    if (schema === undefined) addUnknownKey(name, Object.keys(BLENDS), context);
    else
      blends[name] = parsePart(typeof written === 'number' ? withDefaults(schema) : schema, written, [name], context);
  }
  return names.length > 1 ? { ...blends, order: names } : blends;
});

/** @param component its name where the step has one of its own. */
function createBlend(name: string, options: unknown, component: string | undefined): Step {
  if (name === 'trajectory') return blendWithTrajectory(options as z.output<typeof trajectoryOptions>, component);
  const { coordinates = null, ...attention } = options as AttentionBlendOptions;
  const mechanism = name as (typeof MECHANISMS)[number];
  return blendWithAttention({ attention: { ...attention, mechanism }, coordinates }, component);
}

/** The names of the methods of `rerank`, or else of `select`. */
const listSelections = (reranks: boolean) => SELECTIONS.names.filter((name) => isReranking(name) === reranks);

/** One selection by its method. */
const createSelectOptions = (reranks: boolean) => {
  const listNames = () => listSelections(reranks);
  return createOpenSchema(
    () =>
      z
        .union([z.string().transform((method) => ({ [method]: {} })), z.record(z.string(), z.unknown())])
        .transform((written, context): Record<string, unknown> => {
          const [[method, options] = ['', {}], ...others] = Object.entries(
            withoutNulls(written as object as Record<string, unknown>),
          );
          if (others.length === 0 && (listNames() as string[]).includes(method)) {
            const parsed = parsePart(selectionOptions, withName('method', method, options ?? {}), [method], context);
            if (context.issues.length > 0) return z.NEVER;
            const { method: _, ...own } = parsed as SelectionOptions;
            return { [method]: own };
          }
          if (others.length > 0) context.addIssue({ code: 'custom', message: `one method: ${listNames().join(', ')}` });
          else addUnknownKey(method, listNames(), context);
          return z.NEVER;
        }),
    () => SELECTIONS.changes,
  );
};

const createSelect = (key: string) => (written: Readonly<Record<string, object>>, _: Outline, name?: string) => {
  const [[method, options]] = Object.entries(written) as [[string, object]];
  return [select({ method, ...options } as SelectionOptions, name ?? key)];
};

/** Options of which one may be written alone, as a number. */
const orNumber = <S extends z.ZodObject>(schema: S, key: keyof S['shape'] & string) =>
  z
    .unknown()
    .transform((written, context) =>
      typeof written === 'number'
        ? parseNumber(schema, key, written, context)
        : parsePart(schema, written, [], context),
    );

/** Every option by its default except one, whose faults are those of the step. */
function parseNumber<S extends z.ZodObject>(
  schema: S,
  key: keyof S['shape'] & string,
  written: number,
  context: Pick<z.core.$RefinementCtx, 'issues'>,
): z.output<S> {
  const number = parsePart(schema.shape[key] as z.ZodType, written, [], context);
  return context.issues.length > 0 ? (z.NEVER as never) : parse(schema, { [key]: number }, 'the options of a step');
}

/** Every step that a config may name, with those of plugins: to add one takes its file and a line here. */
export const STEPS = new Registry<string, StepKey>([
  defineKey('filter', filterText, filter, (where, _, name) => [filter({ where }, name)]),
  defineKey('slice', sliceOptions, slice, (options) => [slice(options)]),
  defineKey('propagate', propagateOptions, propagate, (options) => [propagate(options)]),
  defineKey('search', searchOptions, search, (options) => [search(options)], checkSearch),
  defineKey('score', scoreOptions, score, (options, _, name) => [score(options, name)], checkScore),
  defineKey('fuse', fuseOptions, fuse, createFusion, checkFusion),
  defineKey('mix', mixOptions, mix, (options) => [mix(options)], checkMix),
  defineKey('boost', boostOptions, boost, (options, _, name) => [boost(options, name)]),
  defineKey('curate', curationArmOptions, curate, (options, _, name) => [curate(options, name)]),
  defineKey('decay', orNumber(decayOptions, 'halfLifeHours'), decay, (options, _, name) => [decay(options, name)]),
  defineKey(
    'blend',
    blendOptions,
    blendWithTrajectory,
    (blends, _, name) =>
      orderBlends(blends).map((blend) => createBlend(blend, blends[blend], name && `${name}.${blend}`)),
    checkBlend,
    '(1 − weight) × scores + weight × `trajectory`, `rcp`, `ircp`, `tpo` or `unified`, in their order; a number is the weight',
  ),
  defineKey(
    'rerank',
    createSelectOptions(true),
    select,
    createSelect('rerank') as never,
    undefined,
    'orders the best K again by `node-distance`, `mentions`, `cross-encoder` or `late`',
  ),
  defineKey(
    'select',
    createSelectOptions(false),
    select,
    createSelect('select') as never,
    undefined,
    'takes the best K by `mmr` or `diversity-filter`',
  ),
  defineKey('pack', orNumber(packOptions, 'tokens'), pack, (options, _, name) => [pack(options, name)]),
]);

/** True if a step may stand twice in an arm: the state that it takes may come again after it, and it adds up. */
export const mayRepeat = ({ takes, gives }: StepKey) =>
  (gives === null || takes.includes(gives)) && takes.some((state) => state !== 'turns');

/**
 * The state after a step, where it may stand after another state.
 *
 * @returns the state that the step takes and the one that it gives; null for a step that takes another.
 */
export function passState(
  { takes, gives }: StepKey,
  state: ArmState,
): readonly [taken: ArmState, given: ArmState] | null {
  const taken = state === 'pool' && !takes.includes('pool') ? 'scores' : state;
  return takes.includes(taken) ? [taken, gives ?? taken] : null;
}

/** Names of steps that are not those of their kinds -> the kinds. */
export type StepNames = Readonly<Record<string, string>>;

/** The kind of a step of an arm by its name. */
export const findStepKind = (name: string, as: StepNames | undefined): StepKey | undefined =>
  STEPS.find(as !== undefined && Object.hasOwn(as, name) ? (as[name] as string) : name);

/** Keys of a resolved arm besides its steps: no ranking depends on them, but for those of its workspace. */
export const ARM_KEYS: readonly string[] = [
  'name',
  'description',
  'extends',
  'tune',
  'levels',
  'differences',
  'embedding',
  'seed',
  'repeats',
  'unchanged',
];

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

const writtenMixOptions = scoringOptions.extend({
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
    mix: z.union([z.string().min(1), writtenMixOptions]),
    decay: z.union([z.number().positive(), decayOptions]),
    blend: nameMembers(blends),
    rerank: createSelection(true),
    select: createSelection(false),
    pack: z.union([z.int().min(1), packOptions]),
  };
}
