import { z } from 'zod';
import { ConfigurationError, type ConfigurationFault } from '../../core/errors/errors.ts';
import { check, parse, parsePart, shortenToExcerpt, suggestKnown } from '../../core/validation/validation.ts';
import type { SliceOptions } from '../../kernel/slices/slice-options.ts';
import type { Plan } from '../signals/plan.ts';
import type { WeightsOrigin } from '../signals/signal-options.ts';
import type { Stage } from '../signals/stage.ts';
import {
  CONTROL_KINDS,
  type ControlKind,
  type ControlOptions,
  controlOptions,
  disturbs,
} from '../signals/worlds/world-parts.ts';
import { poolRows } from './candidate-sources.ts';
import type { MixOptions } from './steps/change.ts';
import {
  ARM_KEYS,
  COLUMN_NAMES,
  findStepKind,
  mayRepeat,
  passState,
  STEPS,
  type StepKey,
  type StepNames,
} from './steps/keys.ts';
import type { AddFault } from './steps/search.ts';
import {
  type ArmState,
  type DataPart,
  type DataReader,
  EMPTY_OUTLINE,
  findNeed,
  type Outline,
  type Step,
} from './steps/step.ts';

/**
 * The ranking of an arm: its steps, what they say together before anything is computed, and the null control in whose
 * world they are.
 */
export interface Arm {
  readonly steps: readonly Step[];
  /** [steps] the name by which the arm has each, such as `blend.rcp`; null for a fusion that it does not write. */
  readonly names: readonly (string | null)[];
  readonly outline: Outline;
  readonly control: ControlOptions | null;
}

/** @param walked in an order that fits together. */
function createArm(walked: readonly WalkedStep[], control: ControlOptions | null = null): Arm {
  const [steps, names] = [walked.map(({ step }) => step), walked.map(({ name }) => name)];
  return { steps, names, control, outline: steps.reduce((outline, step) => step.outline(outline), EMPTY_OUTLINE) };
}

/** The stages that the ranking of an arm is put together from: the pool, then those of each step. */
function listStagesOfArm(plan: Plan, { steps, outline, control }: Arm): Stage[] {
  const world = plan.under(control);
  const pool = world.stage(poolRows(outline));
  return [pool, ...steps.flatMap((step) => step.stages(outline, world, pool, plan))];
}

/** The controls that change anything of what an arm looks at. */
export function listControlsOfArm({ steps, outline }: Omit<Arm, 'control'>): ControlKind[] {
  const reads = steps.flatMap((step) => step.reads(outline));
  return CONTROL_KINDS.filter((kind) => disturbs(kind, reads));
}

/**
 * The parts of an arm that read some part of the data.
 *
 * @param among the parts of the data that are of interest, such as those that a dataset lacks.
 */
export function listDataReadersOfArm({ steps, outline }: Arm, among: ReadonlySet<DataPart>): DataReader[] {
  return steps.flatMap((step) => step.needs(outline, (reader) => findNeed(reader, among)));
}

/** The source of an arm's learned numbers. */
export function listOriginsOfArm({ steps, outline }: Arm): WeightsOrigin[] {
  return steps.flatMap((step) => step.origins(outline));
}

/** Names that no step has of its own, since keys of an arm, components and columns have them. */
export const TAKEN_NAMES: readonly string[] = [
  ...ARM_KEYS,
  ...['steps', 'as', 'control', 'from', 'then', 'set', 'dataset'],
  ...['relevance', 'scoring', 'curation', 'selection', 'pool', 'compose', 'fusion', 'rank'],
  ...COLUMN_NAMES,
];

/** The names of the steps of a kind that an arm may have. */
export const listStepNames = (kind: string, as: unknown): string[] => [
  kind,
  ...Object.entries((as ?? {}) as StepNames).flatMap(([name, of]) => (of === kind ? [name] : [])),
];

/** A name of its own for a step. */
const ownName = z
  .string()
  .regex(/^[a-z][a-z0-9-]*$/, 'lower-case letters, digits and hyphens')
  .refine((name) => STEPS.find(name) === undefined, 'a name that no step has')
  .refine((name) => !TAKEN_NAMES.includes(name), 'a name that no column and no key of an arm has');

/** Describes what is wrong with a name of its own for a step; null for nothing. */
export function findNameFault(name: unknown): string | null {
  const found = check(ownName, name);
  return 'faults' in found ? (found.faults[0]?.expected ?? null) : null;
}

/**
 * The name of a step that follows others of an arm: that of its kind, with a number where it takes another state than
 * the one that has the name.
 *
 * @param placed the names of the steps before it.
 * @returns the name, or the name of the step of its kind that takes the same state.
 */
export function nameFurtherStep(
  placed: readonly string[],
  as: StepNames | undefined,
  kind: string,
): { readonly name: string } | { readonly taken: string } {
  const key = STEPS.find(kind) as StepKey;
  let state: ArmState = 'turns';
  const taken = new Map<ArmState, string>();
  for (const name of placed) {
    const before = findStepKind(name, as);
    const passed: readonly [ArmState, ArmState] | null = before === undefined ? null : passState(before, state);
    if (before === key) taken.set(passed?.[0] ?? state, name);
    state = passed?.[1] ?? state;
  }
  const [other] = taken.values();
  if (other === undefined) return { name: kind };
  const [takes] = passState(key, state) ?? [];
  const same = takes === undefined || !mayRepeat(key) ? other : taken.get(takes);
  if (same !== undefined) return { taken: same };
  for (let number = taken.size + 1; ; number++)
    if (!placed.includes(`${kind}-${number}`)) return { name: `${kind}-${number}` };
}

/** An item of a list of steps: its kind, its options, and a name of its own. */
interface StepItem {
  readonly kind: string;
  readonly options: unknown;
  readonly as: unknown;
  /** Why the step may change no query. */
  readonly unchanged: unknown;
}

/** Reads an item of a list of steps; null for one that is not one step. */
export function readStepItem(item: unknown): StepItem | null {
  if (typeof item === 'string') return { kind: item, options: {}, as: undefined, unchanged: undefined };
  if (item === null || typeof item !== 'object' || Array.isArray(item)) return null;
  const { as, unchanged, ...steps } = item as Readonly<Record<string, unknown>>;
  const [[kind, options] = ['', null], ...others] = Object.entries(steps);
  return kind === '' || others.length > 0 ? null : { kind, options, as, unchanged };
}

/** The expectation of an error about a step that stands twice. @param place of the other one. */
export const describeRepeated = (kind: string, place: string) =>
  mayRepeat(STEPS.find(kind) as StepKey)
    ? `one ${kind}, which is at ${place}; write as: NAME beside this one`
    : `one ${kind} in an arm, which is at ${place}`;

/** The steps of an arm by their names, in the order in which `steps` lists them; null for one that is left out. */
export interface WrittenSteps {
  readonly steps: readonly string[];
  /** Left out: each step has the name of its kind. */
  readonly as?: StepNames;
  /** Steps that may change no query -> the reason. */
  readonly unchanged?: Readonly<Record<string, string>>;
  readonly [step: string]: unknown;
}

/** The checked steps of an arm, and the null control in whose world they are. */
export interface RankOptions extends WrittenSteps {
  readonly control: ControlOptions | null;
  readonly slice?: SliceOptions | null;
  readonly mix?: MixOptions | null;
}

/** The keys of an arm that are steps. @param as names of their own. */
function buildStepShape(as: StepNames): Record<string, z.ZodType> {
  const steps = [
    ...STEPS.members.map(({ name, options }) => [name, options] as const),
    ...Object.entries(as).map(([name, kind]) => [name, (STEPS.find(kind) as StepKey).options] as const),
  ];
  return {
    /** The order of the steps. */
    steps: z.array(z.string()).min(1),
    ...Object.fromEntries(steps.map(([name, options]) => [name, options.nullable().optional()])),
  };
}

const stepNames = z.record(
  ownName,
  z.string().refine((kind) => {
    const key = STEPS.find(kind);
    return key !== undefined && mayRepeat(key);
  }, 'a step that may stand twice'),
);

/** A reason that is not empty. */
export const unchangedReason = z.string().trim().min(1);

/**
 * The schema of an arm that is written out: its steps, and other keys. Those that have names of their own are keys too.
 */
export function createArmSchema(shape: Readonly<Record<string, z.ZodType>>): z.ZodType {
  const build = (as: StepNames) =>
    z
      .strictObject({
        ...buildStepShape(as),
        ...shape,
        as: stepNames.optional(),
        unchanged: z.record(z.string(), unchangedReason).optional(),
      })
      .superRefine((arm, context) => assertSteps(arm as unknown as WrittenSteps, context));
  let plain = { changes: STEPS.changes, schema: build({}) };
  return z.unknown().transform((arm, context) => {
    const hasNames = arm !== null && typeof arm === 'object' && 'as' in arm && arm.as !== undefined;
    const as = hasNames ? parsePart(stepNames, arm.as, ['as'], context) : null;
    if (context.issues.length > 0) return z.NEVER;
    if (plain.changes !== STEPS.changes) plain = { changes: STEPS.changes, schema: build({}) };
    return parsePart(as === null ? plain.schema : build(as), arm, [], context);
  });
}

/** A step of an arm with its key. */
interface Placed {
  readonly name: string;
  readonly key: StepKey;
  readonly options: unknown;
}

/** The steps that an arm has, in order. */
function listPlaced(arm: WrittenSteps): Placed[] {
  return arm.steps.flatMap((name) => {
    const key = findStepKind(name, arm.as);
    const options = arm[name];
    return key === undefined || options === undefined || options === null ? [] : [{ name, key, options }];
  });
}

/** The fusion of an arm that has none: the only column as it is. */
function implyFusion(outline: Outline): readonly Step[] {
  const [only] = outline.columns.keys();
  return (STEPS.find('fuse') as StepKey).create({ only } as never, outline);
}

/** A step with its name in {@link Arm.names}. */
interface WalkedStep {
  readonly step: Step;
  readonly name: string | null;
}

/** The name of one of the steps that a written step becomes: a blend becomes one for each of its parts. */
function nameStep({ name }: Step, written: string, kind: string): string {
  if (kind !== 'blend') return written;
  return name.startsWith(`${written}.`) ? name : `${written}.${name}`;
}

/** Creates the steps in their order, each with the outline before it, after its own faults are reported. */
function walk(arm: WrittenSteps, fault: AddFault): readonly WalkedStep[] {
  const steps: WalkedStep[] = [];
  let outline = EMPTY_OUTLINE;
  let state: ArmState = 'turns';
  let last = 'nothing';
  let isWrong = false;
  const add = (created: readonly Step[], written: string | null, kind = 'fuse') => {
    for (const step of created) {
      steps.push({ step, name: written && nameStep(step, written, kind) });
      outline = step.outline(outline);
    }
  };
  const reachScores = () => {
    if (state !== 'pool' || outline.columns.size !== 1) return;
    add(implyFusion(outline), null);
    state = 'scores';
  };
  for (const { name, key, options } of listPlaced(arm)) {
    if (!key.takes.includes('pool')) reachScores();
    if (!key.takes.includes(state)) {
      const names = [...outline.columns.keys()];
      const several =
        state === 'pool' && key.takes.includes('scores') ? `; fuse the columns ${names.join(', ')} before it` : '';
      fault(
        [name],
        `after a step that gives ${key.takes.join(' or ')}, not after ${last}, which gives ${state}${several}`,
      );
      return [];
    }
    key.check?.(options as never, outline, (path, expected) => {
      isWrong = true;
      fault([name, ...path], expected);
    });
    if (isWrong) return [];
    add(key.create(options as never, outline, name === key.name ? undefined : name), name, key.name);
    state = key.gives ?? state;
    last = name;
  }
  reachScores();
  const names = [
    ...outline.columns.keys(),
    ...outline.sources.map((source) => source.name),
    ...steps.map(({ step }) => step.name),
  ];
  for (const name of Object.keys(arm.as ?? {}))
    if (names.filter((other) => other === name).length > 1)
      fault([name], 'a name that no source, column or other step has');
  if (state === 'turns') fault(['steps'], 'a step search, which finds candidates');
  if (state === 'pool')
    fault(
      ['steps'],
      `a step fuse or mix, since there are ${outline.columns.size} columns: ${[...outline.columns.keys()].join(', ') || 'none'}`,
    );
  return steps;
}

/** Reports faults beyond the shape of the options: the order of steps, and the needs of each. */
function assertSteps(arm: WrittenSteps, context: z.core.$RefinementCtx): void {
  // Options that are no options of their step can not be asked what they give.
  if (context.issues.some(({ path = [] }) => findStepKind(String(path[0]), arm.as) !== undefined)) return;
  const fault: AddFault = (path, message) => context.addIssue({ code: 'custom', path: [...path], message });
  for (const name of arm.steps)
    if (findStepKind(name, arm.as) === undefined)
      fault(['steps'], `steps that there are; for ${name}, ${suggestKnown(name, STEPS.names)}`);
  for (const name of Object.keys(arm.unchanged ?? {}))
    if (!arm.steps.includes(name)) fault(['unchanged', name], `a step of the arm: ${suggestKnown(name, arm.steps)}`);
  walk(arm, fault);
}

const ARMS = new WeakMap<RankOptions, Arm>();

/** The arm that checked options describe. */
export function readArm(options: RankOptions): Arm {
  const known = ARMS.get(options);
  if (known !== undefined) return known;
  const arm = createArm(
    walk(options, () => {}),
    options.control,
  );
  ARMS.set(options, arm);
  return arm;
}

/** The stages that the ranking of an arm is put together from. */
export function listArmStages(plan: Plan, options: RankOptions): Stage[] {
  return listStagesOfArm(plan, readArm(options));
}

/** A step as it is written in a list: its name with its options, or the name alone. */
export type WrittenStep = string | Readonly<Record<string, unknown>>;

const checkedSteps = createArmSchema({ control: controlOptions.nullable().default(null) });

/**
 * The steps of a list by their names, in their order.
 *
 * @throws ConfigurationError for an item that is not one step, and for a repeated step without a name of its own.
 */
function nameSteps(list: readonly WrittenStep[]): Record<string, unknown> {
  const steps: string[] = [];
  const named: Record<string, unknown> = {};
  const as: Record<string, string> = {};
  const unchanged: Record<string, unknown> = {};
  const places = new Map<string, string>();
  const faults: ConfigurationFault[] = [];
  for (const [i, item] of list.entries()) {
    const path = `[${i}]`;
    const read = readStepItem(item);
    if (read === null) {
      faults.push({ path, expected: 'one step: its name with its options', got: shortenToExcerpt(item) });
      continue;
    }
    const { kind, options } = read;
    const isKnown = STEPS.find(kind) !== undefined;
    const further =
      read.as === undefined && isKnown ? nameFurtherStep(steps, as, kind) : { name: String(read.as ?? kind) };
    if ('taken' in further) {
      const place = places.get(further.taken) as string;
      faults.push({ path, expected: describeRepeated(kind, place), got: shortenToExcerpt(item) });
      continue;
    }
    const { name } = further;
    const expected = read.as === undefined ? null : findNameFault(read.as);
    if (expected !== null) faults.push({ path: `${path}.as`, expected, got: shortenToExcerpt(read.as) });
    else if (Object.hasOwn(named, name))
      faults.push({ path, expected: `a name that ${places.get(name)} has not`, got: shortenToExcerpt(item) });
    if (name !== kind) as[name] = kind;
    if (read.unchanged !== undefined) unchanged[name] = read.unchanged;
    steps.push(name);
    places.set(name, path);
    named[name] = options;
  }
  if (faults.length > 0) throw new ConfigurationError('the steps of an arm', faults);
  const beside = Object.entries({ as, unchanged }).filter(([, given]) => Object.keys(given).length > 0);
  return { ...named, steps, ...Object.fromEntries(beside) };
}

/**
 * The options of an arm from the list of its steps, checked and with defaults filled in.
 *
 * @throws ConfigurationError with every fault.
 */
export function parseSteps(list: readonly WrittenStep[], control: ControlOptions | null = null): RankOptions {
  return parse(checkedSteps, { ...nameSteps(list), control }, 'the steps of an arm') as RankOptions;
}

/**
 * The steps of a retriever or of an arm, checked and with defaults filled in, for callers that no compiler checks.
 *
 * @throws ConfigurationError with every fault.
 */
export function checkSteps(arm: RankOptions): RankOptions {
  const isObject = arm !== null && typeof arm === 'object';
  const own = isObject ? Object.fromEntries(Object.entries(arm).filter(([key]) => !ARM_KEYS.includes(key))) : arm;
  return parse(checkedSteps, own, 'the steps of an arm') as RankOptions;
}
