import type { Plan } from '../signals/plan.ts';
import type { WeightsOrigin } from '../signals/signal-options.ts';
import type { Stage } from '../signals/stage.ts';
import { CONTROL_KINDS, type ControlKind, type ControlOptions, disturbs } from '../signals/worlds/world-parts.ts';
import { poolRows } from './candidate-sources.ts';
import { type DataPart, type DataReader, EMPTY_OUTLINE, findNeed, type Outline, type Step } from './steps/step.ts';

/** How an arm ranks: its steps, what they say together before anything is computed, and the null control in whose world they are. */
export interface Arm {
  readonly steps: readonly Step[];
  readonly outline: Outline;
  readonly control: ControlOptions | null;
}

/** @param steps in an order that fits together. */
export function createArm(steps: readonly Step[], control: ControlOptions | null = null): Arm {
  return { steps, control, outline: steps.reduce((outline, step) => step.outline(outline), EMPTY_OUTLINE) };
}

/** The stages that the ranking of an arm is put together from: the pool, then those of each step. */
export function listStagesOfArm(plan: Plan, { steps, outline, control }: Arm): Stage[] {
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

/** Where the learned numbers of an arm come from. */
export function listOriginsOfArm({ steps, outline }: Arm): WeightsOrigin[] {
  return steps.flatMap((step) => step.origins(outline));
}
