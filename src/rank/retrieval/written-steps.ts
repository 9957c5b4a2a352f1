import { z } from 'zod';
import { ConfigurationError, type ConfigurationFault } from '../../core/errors/errors.ts';
import { parse, shortenToExcerpt, suggestKnown } from '../../core/validation/validation.ts';
import type { SliceOptions } from '../../kernel/slices/slice-options.ts';
import type { ScoringOptions } from '../signals/bank/options.ts';
import type { Plan } from '../signals/plan.ts';
import type { Stage } from '../signals/stage.ts';
import { type ControlOptions, controlOptions } from '../signals/worlds/control-options.ts';
import { type Arm, createArm, listStagesOfArm } from './arm.ts';
import type { AddFault } from './steps/checks.ts';
import { STEP_KEYS, type StepKey } from './steps/keys.ts';
import { EMPTY_OUTLINE, type Outline, type Step } from './steps/step.ts';

/** The steps of an arm by their names, in the order in which `steps` lists them; null for one that is left out. */
export interface WrittenSteps {
  readonly steps: readonly string[];
  readonly [step: string]: unknown;
}

/** The checked steps of an arm, and the null control in whose world they are. */
export interface RankOptions extends WrittenSteps {
  readonly control: ControlOptions | null;
  readonly slice?: SliceOptions | null;
  readonly mix?: ScoringOptions | null;
}

export const STEP_NAMES: readonly string[] = STEP_KEYS.map(({ name }) => name);

const byName = new Map(STEP_KEYS.map((key) => [key.name, key]));

/** The keys of an arm that are steps. */
export const stepShape: Readonly<Record<string, z.ZodType>> = {
  /** The order of the steps. */
  steps: z.array(z.string()).min(1),
  ...Object.fromEntries(STEP_KEYS.map(({ name, options }) => [name, options.nullable().optional()])),
};

/** A step of an arm with its key. */
interface Placed {
  readonly name: string;
  readonly key: StepKey;
  readonly options: unknown;
}

/** The steps that an arm has, in order. */
function listPlaced(arm: WrittenSteps): Placed[] {
  return arm.steps.flatMap((name) => {
    const key = byName.get(name);
    const options = arm[name];
    return key === undefined || options === undefined || options === null ? [] : [{ name, key, options }];
  });
}

/** The fusion of an arm that has none: the only column as it is. */
function implyFusion(outline: Outline): readonly Step[] {
  const [only] = outline.columns.keys();
  return (byName.get('fuse') as StepKey).create({ only } as never, outline);
}

/** Creates the steps in their order, each with the outline before it, after its own faults are reported. */
function walk(arm: WrittenSteps, fault: AddFault): readonly Step[] {
  const steps: Step[] = [];
  let outline = EMPTY_OUTLINE;
  let state = 'turns';
  let last = 'nothing';
  let isWrong = false;
  const add = (created: readonly Step[]) => {
    for (const step of created) {
      steps.push(step);
      outline = step.outline(outline);
    }
  };
  const reachScores = () => {
    if (state !== 'pool' || outline.columns.size !== 1) return;
    add(implyFusion(outline));
    state = 'scores';
  };
  for (const { name, key, options } of listPlaced(arm)) {
    if (!key.takes.includes('pool')) reachScores();
    if (!(key.takes as readonly string[]).includes(state)) {
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
    add(key.create(options as never, outline));
    state = key.gives ?? state;
    last = name;
  }
  reachScores();
  if (state === 'turns') fault(['steps'], 'a step search, which finds candidates');
  if (state === 'pool')
    fault(
      ['steps'],
      `a step fuse or mix, since there are ${outline.columns.size} columns: ${[...outline.columns.keys()].join(', ') || 'none'}`,
    );
  return steps;
}

/** Reports faults beyond the shape of the options: the order of steps, and the needs of each. */
export function assertSteps(arm: WrittenSteps, context: z.core.$RefinementCtx): void {
  // Options that are no options of their step can not be asked what they give.
  if (context.issues.some(({ path = [] }) => byName.has(String(path[0])))) return;
  const fault: AddFault = (path, message) => context.addIssue({ code: 'custom', path: [...path], message });
  for (const name of arm.steps)
    if (!byName.has(name)) fault(['steps'], `steps that there are; for ${name}, ${suggestKnown(name, STEP_NAMES)}`);
  walk(arm, fault);
}

const ARMS = new WeakMap<RankOptions, Arm>();

/** The arm that checked options describe. */
export function readArm(options: RankOptions): Arm {
  const known = ARMS.get(options);
  if (known !== undefined) return known;
  const steps = walk(options, () => {});
  const arm = createArm(steps, options.control);
  ARMS.set(options, arm);
  return arm;
}

/** The stages that the ranking of an arm is put together from. */
export function listArmStages(plan: Plan, options: RankOptions): Stage[] {
  return listStagesOfArm(plan, readArm(options));
}

/** A step as it is written in a list: its name with its options, or the name alone. */
export type WrittenStep = string | Readonly<Record<string, unknown>>;

const checkedSteps = z
  .strictObject({ ...stepShape, control: controlOptions.nullable().default(null) })
  .superRefine((arm, context) => assertSteps(arm as unknown as WrittenSteps, context));

/**
 * The steps of a list by their names, in their order.
 *
 * @throws ConfigurationError for an item that is not one step, and for a repeated step.
 */
function nameSteps(list: readonly WrittenStep[]): Record<string, unknown> {
  const named: Record<string, unknown> = {};
  const faults: ConfigurationFault[] = [];
  for (const [i, item] of list.entries()) {
    const [[name, options] = ['', null], ...others] =
      typeof item === 'string' ? [[item, {}] as const] : Object.entries(item);
    const path = `[${i}]`;
    if (name === '' || others.length > 0)
      faults.push({ path, expected: 'one step: its name with its options', got: shortenToExcerpt(item) });
    else if (Object.hasOwn(named, name)) faults.push({ path, expected: 'each step once', got: `${name} twice` });
    else named[name] = options;
  }
  if (faults.length > 0) throw new ConfigurationError('the steps of an arm', faults);
  return named;
}

/**
 * The options of an arm from the list of its steps, checked and with defaults filled in.
 *
 * @throws ConfigurationError with every fault.
 */
export function parseSteps(list: readonly WrittenStep[], control: ControlOptions | null = null): RankOptions {
  const named = nameSteps(list);
  return parse(checkedSteps, { ...named, steps: Object.keys(named), control }, 'the steps of an arm') as RankOptions;
}

/** Keys of an arm of an experiment besides its steps: no ranking depends on them, but for those of its workspace. */
const ARM_KEYS: readonly string[] = [
  'name',
  'description',
  'extends',
  'tune',
  'levels',
  'differences',
  'embedding',
  'seed',
  'repeats',
];

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
