import { unifiedAttentionOptions } from '../../../ops/attention/options.ts';
import { COORDINATES, type CoordinateName } from '../../../ops/trajectory/coordinate-names.ts';
import type { QueryFrames } from '../../../ops/trajectory/query-frames.ts';
import { attentionSignal } from '../attention.ts';
import type { AttentionOptions } from '../attention-options.ts';
import type { Column } from '../candidate-pool.ts';
import { pairFrames } from '../frames.ts';
import { toSignalPart } from '../plan.ts';
import type { Setting, Signal, StageUse } from '../signal.ts';
import { trajectorySignal } from '../trajectory.ts';
import { TRAJECTORY_DEFAULTS, type TrajectoryOptions } from '../trajectory-options.ts';
import { listCoordinateReads, type WorldPart } from '../worlds/world-parts.ts';

const withDimensions = (dimensions: TrajectoryOptions['dimensions']) =>
  trajectorySignal({ ...TRAJECTORY_DEFAULTS, dimensions });

function buildAttention(mechanism: AttentionOptions['mechanism'], combine: AttentionOptions['combine']): Signal {
  const options = unifiedAttentionOptions.parse({ mode: 'directed', combine });
  return attentionSignal({ attention: { ...options, mechanism, weight: 1 }, trajectory: null });
}

/** The scores by coordinates and by ring attention, with the weights that were set by hand, in the order of their columns. */
export const STRUCTURE_SIGNALS: Readonly<Record<string, Signal>> = {
  'trajectory.3': withDimensions(3),
  'trajectory.5': withDimensions(5),
  'trajectory.7': withDimensions(7),
  'attention.rcp': buildAttention('rcp', 'multiplicative'),
  'attention.ircp': buildAttention('ircp', 'multiplicative'),
  'attention.tpo': buildAttention('tpo', 'multiplicative'),
  'attention.rcp-additive': buildAttention('rcp', 'additive'),
};

const nameDifference = (coordinate: CoordinateName) => `difference.${toSignalPart(coordinate)}`;

/** How far apart query and candidate are in one coordinate. */
const DIFFERENCES: ReadonlyMap<string, CoordinateName> = new Map(
  COORDINATES[7].map((name) => [nameDifference(name), name]),
);

const SUMMARIES: Readonly<Record<string, string>> = {
  'difference.depth': 'absolute difference of turn and query in depth, each in [0, 1] of its conversation',
  'difference.sibling-order':
    'absolute difference of turn and query in place among its siblings, each in [0, 1] of its conversation',
  'difference.homogeneity':
    'absolute difference of turn and query in similarity to its parent, each in [0, 1] of its conversation',
  'difference.temporal': 'absolute difference of turn and query in time, each in [0, 1] of its conversation',
  'difference.complexity':
    'absolute difference of turn and query in complexity of the text, each in [0, 1] of its conversation',
  'difference.branch-factor': 'absolute difference of turn and query in siblings, each in [0, 1] of its conversation',
  'difference.children-count': 'absolute difference of turn and query in answers, each in [0, 1] of its conversation',
  'trajectory.3': 'trajectory score in three coordinates',
  'trajectory.5': 'in five',
  'trajectory.7': 'in seven',
  'attention.rcp': 'ring attention of the query over its candidates',
  'attention.ircp': "the part of each candidate's attention to later turns that falls on the query",
  'attention.tpo': 'attention by trajectory distance',
  'attention.rcp-additive': '`attention.rcp` with logits that subtract the distance',
};

/** What a structure signal reads; empty for other signals, of which no control destroys anything. */
function listStructureReads(name: string): readonly WorldPart[] {
  const coordinate = DIFFERENCES.get(name);
  return coordinate !== undefined ? listCoordinateReads([coordinate]) : (STRUCTURE_SIGNALS[name]?.reads ?? []);
}

/** The structure signals of a bank, in the order of their columns. */
export const STRUCTURE = [...DIFFERENCES.keys(), ...Object.keys(STRUCTURE_SIGNALS)].map((name) => ({
  name,
  summary: SUMMARIES[name] as string,
  reads: listStructureReads(name),
}));

/** What the structure signals are computed from: frames for the differences, and the signals themselves. */
export function listStructureInputs(setting: Pick<Setting, 'control'>): Readonly<Record<string, StageUse<unknown>>> {
  return { frames: pairFrames({ ...TRAJECTORY_DEFAULTS, dimensions: 7 }, setting), ...STRUCTURE_SIGNALS };
}

/**
 * The columns of the structure signals by name, [Q, C] each.
 *
 * @param inputs results of {@link listStructureInputs}
 */
export function collectStructureColumns(inputs: Readonly<Record<string, unknown>>): Map<string, Column> {
  const { candidates, queries, names } = inputs.frames as QueryFrames;
  const differences = names.map((name, i): [string, Column] => {
    const column = new Float32Array(queries.length / names.length);
    for (let pair = 0; pair < column.length; pair++) {
      const at = pair * names.length + i;
      column[pair] = Math.abs((queries[at] as number) - (candidates[at] as number));
    }
    return [nameDifference(name), column];
  });
  const signals = Object.keys(STRUCTURE_SIGNALS).map((name): [string, Column] => [name, inputs[name] as Column]);
  return new Map([...differences, ...signals]);
}
