import { unifiedAttentionOptions } from '../../../ops/attention/options.ts';
import { COORDINATES, type CoordinateName } from '../../../ops/trajectory/coordinate-names.ts';
import type { QueryFrames } from '../../../ops/trajectory/query-frames.ts';
import { attentionSignal } from '../attention.ts';
import type { Column } from '../candidate-pool.ts';
import { toSignalPart } from '../plan.ts';
import type { Setting, Signal, StageUse } from '../signal.ts';
import { type AttentionOptions, TRAJECTORY_DEFAULTS, type TrajectoryOptions } from '../signal-options.ts';
import { trajectorySignal } from '../trajectory.ts';
import { pairFrames } from '../trajectory-score.ts';
import { listCoordinateReads, type WorldPart } from '../worlds/world-parts.ts';
import { findNeighbour, type Sessions } from './sessions.ts';

/** What is made of one score that all turns have: the score itself and what it says of the turns around. */
export const SPREAD = [
  '',
  '@share',
  '@previous-2',
  '@previous',
  '@next',
  '@next-2',
  '@session-best',
  '@session-mean',
] as const;

const STEPS = [-2, -1, 1, 2] as const;
/** The number of a session's best turns whose mean is a feature. */
const BEST = 3;

/** A score for every turn before the cutoff, spread over the turns' sessions as of then. Scratch is made once for a corpus. */
export class Spread {
  readonly #sessions: Sessions;
  /** [sessions, BEST] the best scores, descending. */
  readonly #best: Float64Array;

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
    this.#best = new Float64Array(sessions.members.length * BEST);
  }

  #rank(scores: Float64Array, cutoff: number): number {
    const { sessionOf } = this.#sessions;
    const best = this.#best.fill(Number.NEGATIVE_INFINITY);
    let highest = Number.NEGATIVE_INFINITY;
    for (let position = 0; position < cutoff; position++) {
      const score = scores[position] as number;
      if (score > highest) highest = score;
      let at = (sessionOf[position] as number) * BEST + BEST - 1;
      if (score <= (best[at] as number)) continue;
      const first = at - BEST + 1;
      for (; at > first && score > (best[at - 1] as number); at--) best[at] = best[at - 1] as number;
      best[at] = score;
    }
    return highest;
  }

  /**
   * @param scores [N], of which those before the cutoff count
   * @param positions of the candidates, -1 for padding
   * @param out row-major [candidates, stride]; the {@link SPREAD} of each goes to its columns from `column` on
   */
  write(
    scores: Float64Array,
    cutoff: number,
    positions: Int32Array,
    out: { readonly values: Float32Array; readonly start: number; readonly stride: number; readonly column: number },
  ): void {
    const highest = this.#rank(scores, cutoff);
    const { sessionOf } = this.#sessions;
    for (const [i, position] of positions.entries()) {
      if (position < 0) continue;
      let at = out.start + i * out.stride + out.column;
      const score = scores[position] as number;
      out.values[at++] = score;
      out.values[at++] = highest > 0 ? score / highest : 0;
      for (const steps of STEPS) {
        const other = findNeighbour(this.#sessions, position, steps);
        out.values[at++] = other >= 0 && other < cutoff ? (scores[other] as number) : 0;
      }
      const first = (sessionOf[position] as number) * BEST;
      out.values[at++] = this.#best[first] as number;
      out.values[at++] = meanOfFinite(this.#best.subarray(first, first + BEST));
    }
  }
}

/** A session with fewer turns has a mean of those. */
function meanOfFinite(values: Float64Array): number {
  let sum = 0;
  let count = 0;
  for (const value of values) {
    if (value === Number.NEGATIVE_INFINITY) continue;
    sum += value;
    count++;
  }
  return count === 0 ? 0 : sum / count;
}

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
