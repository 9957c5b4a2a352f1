import { z } from 'zod';
import type { ConfigurationFault } from '../core/errors.ts';
import { CONTROL_KINDS, type ControlKind } from '../retrieval/control-options.ts';
import { controlsFor } from '../retrieval/null-controls.ts';
import { armsToRun } from './arm-selection.ts';
import type { ArmOptions, ExperimentConfig } from './config-schema.ts';

/** Which null controls a config asks for. */
export const controlsOptions = z.union([z.boolean(), z.array(z.enum(CONTROL_KINDS)).min(1)]);
export type ControlsOptions = z.output<typeof controlsOptions>;

/** Which arm a null control controls, and what it destroys. */
export interface ArmControl {
  readonly of: string;
  readonly kind: string;
}

/** Null for an arm that is no control. */
export function controlOf({ control, extends: of }: ArmOptions): ArmControl | null {
  return control === null ? null : { of: of as string, kind: control.kind }; // the schema asks for the arm that it extends
}

/** The null controls among some arms, by their names. */
export function controlsAmong(arms: readonly ArmOptions[]): ReadonlyMap<string, ArmControl> {
  return new Map(
    arms.flatMap((arm) => {
      const control = controlOf(arm);
      return control === null ? [] : [[arm.name, control] as const];
    }),
  );
}

const DESTROYS: Readonly<Record<ControlKind, string>> = {
  'permuted-order': 'the turns of each conversation stand in a random order on its ring',
  'shuffled-coordinates': "each query's candidates exchange their coordinates at random",
  'random-parents': 'each turn answers any earlier one of its conversation',
  'rewired-graph': 'each turn has as many children as it has, but others',
};

function controlArm(arm: ArmOptions, kind: ControlKind): ArmOptions {
  return {
    ...arm,
    name: `${arm.name} | control: ${kind}`,
    description: DESTROYS[kind],
    extends: arm.name,
    tune: {}, // so that it takes over the values that were chosen for its arm
    levels: null,
    differences: ['control'],
    control: { kind, seed: null },
  };
}

/**
 * Adds the null controls that change anything of an arm, for every arm that is run; the values that are tuned for an arm hold for its controls. A control that is
 * written out already is not made again.
 */
export function withControls(config: ExperimentConfig, wanted: ControlsOptions): ExperimentConfig {
  const kinds = Array.isArray(wanted) ? wanted : wanted ? CONTROL_KINDS : [];
  const isThere = (of: string, kind: ControlKind) =>
    config.arms.some((arm) => arm.extends === of && arm.control?.kind === kind);
  const controls = armsToRun(config)
    .filter(({ control }) => control === null)
    .flatMap((arm) => {
      const changing = controlsFor(arm).filter((kind) => kinds.includes(kind) && !isThere(arm.name, kind));
      return changing.map((kind) => controlArm(arm, kind));
    });
  const only = config.only === null ? null : [...config.only, ...controls.map(({ name }) => name)];
  return { ...config, arms: [...config.arms, ...controls], only };
}

/** Controls of one kind for one arm: they could not be told apart. */
export function controlFaults(arms: readonly ArmOptions[]): ConfigurationFault[] {
  const found = arms.map((arm) => JSON.stringify(controlOf(arm)));
  return arms.flatMap(({ control }, i) =>
    control !== null && found.indexOf(found[i] as string) < i
      ? [
          {
            path: `arms[${i}].control`,
            expected: 'one control of each kind for an arm',
            got: JSON.stringify(control.kind),
          },
        ]
      : [],
  );
}
