import { unifiedAttentionOptions } from '../../attention/options.ts';
import { COORDINATES, type CoordinateName } from '../../trajectory/coordinate-names.ts';
import type { QueryFrames } from '../../trajectory/query-frames.ts';
import { attentionSignal } from '../attention.ts';
import type { AttentionOptions } from '../attention-options.ts';
import type { Column } from '../column.ts';
import { pairFrames } from '../frames.ts';
import type { Setting, Signal, StageUse } from '../signal.ts';
import { trajectorySignal } from '../trajectory.ts';
import { TRAJECTORY_DEFAULTS, type TrajectoryOptions } from '../trajectory-options.ts';
import { coordinateReads, type WorldPart } from '../worlds/world-parts.ts';

const withDimensions = (dimensions: TrajectoryOptions['dimensions']) =>
  trajectorySignal({ ...TRAJECTORY_DEFAULTS, dimensions });

function attention(mechanism: AttentionOptions['mechanism'], combine: AttentionOptions['combine']): Signal {
  const options = unifiedAttentionOptions.parse({ mode: 'directed', combine });
  return attentionSignal({ attention: { ...options, mechanism, weight: 1 }, trajectory: null });
}

/** The scores by coordinates and by ring attention, with the weights that were set by hand, in the order of their columns. */
export const STRUCTURE_SIGNALS: Readonly<Record<string, Signal>> = {
  'trajectory-3': withDimensions(3),
  'trajectory-5': withDimensions(5),
  'trajectory-7': withDimensions(7),
  rcp: attention('rcp', 'multiplicative'),
  ircp: attention('ircp', 'multiplicative'),
  tpo: attention('tpo', 'multiplicative'),
  'rcp-additive': attention('rcp', 'additive'),
};

/** How far apart query and candidate are in one coordinate. */
export const DIFFERENCES: ReadonlyMap<string, CoordinateName> = new Map(
  COORDINATES[7].map((name) => [`difference ${name}`, name]),
);

/** The structure signals of a bank, in the order of their columns. */
export const STRUCTURE_NAMES: readonly string[] = [...DIFFERENCES.keys(), ...Object.keys(STRUCTURE_SIGNALS)];

/** What a structure signal reads; nothing that a control destroys for other signals. */
export function structureReads(name: string): readonly WorldPart[] {
  const coordinate = DIFFERENCES.get(name);
  return coordinate !== undefined ? coordinateReads([coordinate]) : (STRUCTURE_SIGNALS[name]?.reads ?? []);
}

/** All that the structure signals read. */
export const STRUCTURE_READS: readonly WorldPart[] = [...new Set(STRUCTURE_NAMES.flatMap(structureReads))];

/** What the structure signals are computed from: frames for the differences, and the signals themselves. */
export function structureInputs(setting: Pick<Setting, 'control'>): Readonly<Record<string, StageUse<unknown>>> {
  return { frames: pairFrames({ ...TRAJECTORY_DEFAULTS, dimensions: 7 }, setting), ...STRUCTURE_SIGNALS };
}

/**
 * The columns of the structure signals by name, [Q, C] each.
 *
 * @param inputs results of {@link structureInputs}
 */
export function structureColumns(inputs: Readonly<Record<string, unknown>>): Map<string, Column> {
  const { candidates, queries, names } = inputs.frames as QueryFrames;
  const differences = names.map((name, i): [string, Column] => {
    const column = new Float32Array(queries.length / names.length);
    for (let pair = 0; pair < column.length; pair++) {
      const at = pair * names.length + i;
      column[pair] = Math.abs((queries[at] as number) - (candidates[at] as number));
    }
    return [`difference ${name}`, column];
  });
  const signals = Object.keys(STRUCTURE_SIGNALS).map((name): [string, Column] => [name, inputs[name] as Column]);
  return new Map([...differences, ...signals]);
}
