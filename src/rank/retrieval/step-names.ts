import { z } from 'zod';
import { check } from '../../core/validation/validation.ts';
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
import type { ArmState } from './steps/step.ts';

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
export const ownName = z
  .string()
  .regex(/^[a-z][a-z0-9-]*$/, 'lower-case letters, digits and hyphens')
  .refine((name) => STEPS.find(name) === undefined, 'a name that no step has')
  .refine((name) => !TAKEN_NAMES.includes(name), 'a name that no column and no key of an arm has');

/** What is wrong with a name of its own for a step; null for nothing. */
export function findNameFault(name: unknown): string | null {
  const found = check(ownName, name);
  return 'faults' in found ? (found.faults[0]?.expected ?? null) : null;
}

/**
 * The name of a step that follows others of an arm: that of its kind, with a number where it takes another state than the one that has the name.
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
export interface StepItem {
  readonly kind: string;
  readonly options: unknown;
  readonly as: unknown;
}

/** Reads an item of a list of steps; null for one that is not one step. */
export function readStepItem(item: unknown): StepItem | null {
  if (typeof item === 'string') return { kind: item, options: {}, as: undefined };
  if (item === null || typeof item !== 'object' || Array.isArray(item)) return null;
  const { as, ...steps } = item as Readonly<Record<string, unknown>>;
  const [[kind, options] = ['', null], ...others] = Object.entries(steps);
  return kind === '' || others.length > 0 ? null : { kind, options, as };
}

/** The expectation of an error about a step that stands twice. @param place of the other one. */
export const describeRepeated = (kind: string, place: string) =>
  mayRepeat(STEPS.find(kind) as StepKey)
    ? `one ${kind}, which stands at ${place}; write as: NAME beside this one`
    : `one ${kind} in an arm, which stands at ${place}`;
