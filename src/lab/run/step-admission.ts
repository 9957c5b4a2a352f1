import { ValidationError } from '../../core/errors/errors.ts';
import type { StepChange } from '../../rank/retrieval/step-changes.ts';
import type { ArmOptions } from '../config/config.ts';
import type { StepEffect } from '../measure/result.ts';

/** An arm with what its steps changed. */
interface ChangedArm {
  readonly options: ArmOptions;
  readonly changes?: readonly StepChange[];
}

/** The name of a step as its arm lists it: parts of steps follow a dot. */
const nameWhole = (step: string) => step.split('.')[0] as string;

/** The steps of an arm with their counts, and the reason where a count is 0. @param queries how many were ranked */
export function describeSteps(
  { options: { unchanged = {} }, changes = [] }: ChangedArm,
  queries: number,
): StepEffect[] {
  return changes.map((change) => {
    const reason = change.queries === 0 ? unchanged[nameWhole(change.step)] : undefined;
    return { ...change, of: queries, ...(reason !== undefined && { reason }) };
  });
}

/**
 * An arm counts only if its treatment was applied: each of its steps changes a query, or says why it changes none. Null
 * controls pass: on destroyed structure a step without effect is a finding.
 *
 * @param queries how many were ranked.
 * @throws ValidationError naming the steps that change nothing.
 */
export function assertStepsApplied(arm: ChangedArm, queries: number): void {
  const { name, control } = arm.options;
  const idle = describeSteps(arm, queries).filter(({ queries: changed, reason }) => changed === 0 && !reason);
  if (control !== null || idle.length === 0) return;
  const steps = idle.map(({ step }) => step);
  const [first = ''] = steps;
  const what = steps.length === 1 ? `step ${first} changes` : `steps ${steps.join(', ')} change`;
  throw new ValidationError(
    `arm ${name}: ${what} none of ${queries} queries; leave ${steps.length === 1 ? 'it' : 'them'} out, change the options, or say why beside the step: unchanged: REASON`,
    { arm: name, steps, queries },
  );
}
