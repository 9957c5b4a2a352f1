import { GrowingArray } from '../../../core/numbers/growing-array.ts';
import { getOrCompute, once } from '../../../core/values/once.ts';
import type { TurnGroups } from '../../../index/words/grouped-bm25.ts';
import { type Corpus, findLowerBound } from '../../../model/turns/corpus.ts';
import { findNeighbour, type Sessions } from '../../../model/turns/sessions.ts';
import type { Turn } from '../../../model/turns/turn.ts';
import { unifiedAttentionOptions } from '../../../ops/attention/options.ts';
import { COORDINATES, type CoordinateName } from '../../../ops/trajectory/coordinate-names.ts';
import type { QueryFrames } from '../../../ops/trajectory/query-frames.ts';
import { attentionSignal } from '../attention.ts';
import { toSignalPart } from '../plan.ts';
import type { Setting, Signal, StageUse } from '../signal.ts';
import { type AttentionOptions, TRAJECTORY_DEFAULTS, type TrajectoryOptions } from '../signal-options.ts';
import type { Column } from '../stage.ts';
import { trajectorySignal } from '../trajectory.ts';
import { pairFrames } from '../trajectory-score.ts';
import { listCoordinateReads, type WorldPart } from '../worlds/world-parts.ts';

/**
 * The signals by ranks in time, in the order of their columns: of sessions among all, and of turns and sessions among
 * those of a channel.
 */
export const RANK_SIGNALS = {
  sessions: {
    group: 'time',
    newest: {
      name: 'rank.newest@session',
      summary: '1 / (1 + other sessions with a turn after the last turn of its own)',
    },
    rank: { name: 'rank.age@session', summary: 'ln(1 + the same sessions)' },
  },
  channelTurns: {
    group: 'channel',
    newest: { name: 'rank.newest@channel', summary: '1 / (1 + turns of its channel between it and the query)' },
    rank: { name: 'rank.age@channel', summary: 'ln(1 + the same turns)' },
  },
  channelSessions: {
    group: 'channel',
    newest: {
      name: 'rank.newest@session-channel',
      summary: "`rank.newest@session` among the sessions of the query's channel; 0 if its own is not among them",
    },
    rank: {
      name: 'rank.age@session-channel',
      summary: '`rank.age@session` among them; as if its own were the oldest if it is not among them',
    },
  },
} as const;

/** The recency of turns and sessions among those of their channel. */
export class SessionRanks {
  #corpus: Corpus;
  readonly #sessions: Sessions;
  /** Positions of each channel's turns, ascending; null is a channel of its own. */
  readonly #channels = new Map<string | null, number[]>();
  /** [N] index in the channel. */
  readonly #stepOf = new GrowingArray(new Int32Array(0));

  constructor(corpus: Corpus, sessions: Sessions) {
    this.#corpus = corpus;
    this.#sessions = sessions;
    this.append(corpus);
  }

  /** Takes in the turns of a corpus after those that there are, which are its first: O(1) for each. */
  append(corpus: Corpus): void {
    this.#corpus = corpus;
    for (let position = this.#stepOf.length; position < corpus.size; position++) {
      const { channel } = corpus.turns[position] as Turn;
      this.#stepOf.push(getOrCompute(this.#channels, channel, () => []).push(position) - 1);
    }
  }

  /** Turns of the same channel between a turn and the cutoff. */
  countChannelTurnsAfter(position: number, cutoff: number): number {
    const turns = this.#channels.get(this.#corpus.turns[position]?.channel ?? null) as number[];
    return findLowerBound(turns, cutoff) - 1 - (this.#stepOf.numbers[position] as number);
  }

  /**
   * How many other sessions (of a channel, where one is given) were spoken in since each was last spoken in.
   *
   * @returns [sessions]; -1 for those without a turn before the cutoff and those of other channels
   */
  rankSessions(cutoff: number, channel?: string | null): Int32Array {
    const { sessionOf, members } = this.#sessions;
    const ranks = new Int32Array(members.length).fill(-1);
    let rank = 0;
    for (let position = cutoff - 1; position >= 0; position--) {
      const session = sessionOf[position] as number;
      if (ranks[session] !== -1) continue;
      if (channel !== undefined && this.#corpus.turns[position]?.channel !== channel) continue;
      ranks[session] = rank++;
    }
    return ranks;
  }
}

/** A document a turn: the turn with those up to `reach` steps before and after it in its session. With a reach of 0 the turn alone. */
export class WindowGroups implements TurnGroups {
  readonly width: number;
  readonly #sessions: Sessions;
  readonly #reach: number;
  readonly #documents = new GrowingArray(new Int32Array(0));
  /** [N] each turn begins its own. */
  readonly #begins = new GrowingArray(new Int32Array(0));

  constructor(sessions: Sessions, reach: number) {
    this.width = 2 * reach + 1;
    this.#sessions = sessions;
    this.#reach = reach;
    this.append();
  }

  get documents(): Int32Array {
    return this.#documents.numbers;
  }

  get begins(): Int32Array {
    return this.#begins.numbers;
  }

  /** Takes in the turns that the sessions have taken in: O(reach) for each. */
  append(): void {
    const { sessionOf, stepOf, members } = this.#sessions;
    const [first, size] = [this.#begins.length, sessionOf.length];
    this.#begins.extend(size - first);
    this.#documents.extend((size - first) * this.width);
    const { begins, documents } = this;
    documents.fill(-1, first * this.width);
    const findPlace = (step: number, other: number) => other - Math.max(0, step - this.#reach);
    for (let position = first; position < size; position++) {
      begins[position] = position;
      const turns = members[sessionOf[position]!]!;
      const step = stepOf[position]!;
      for (let other = Math.max(0, step - this.#reach); other <= step; other++) {
        documents[position * this.width + findPlace(step, other)] = turns[other]!;
        documents[turns[other]! * this.width + findPlace(other, step)] = position;
      }
    }
  }

  listTurnsBefore(document: number): readonly number[] {
    const { sessionOf, stepOf, members } = this.#sessions;
    const step = stepOf[document]!;
    return members[sessionOf[document]!]!.slice(Math.max(0, step - this.#reach), step);
  }
}

/** A document a session; follows what the sessions take in. */
export function groupBySession(sessions: Sessions): TurnGroups {
  return {
    width: 1,
    get documents() {
      return sessions.sessionOf;
    },
    get begins() {
      return sessions.firsts;
    },
    listTurnsBefore: () => [],
  };
}

/** The signals that are made of one score that all turns have: the score itself and the scores of the turns around. */
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

/**
 * A score for every turn before the cutoff, spread over the turns' sessions as of then. Scratch is kept, and grows with
 * the sessions.
 */
export class Spread {
  readonly #sessions: Sessions;
  /** [sessions, BEST] the best scores, descending. */
  readonly #best = new GrowingArray(new Float64Array(0));

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
  }

  #rank(scores: Float64Array, cutoff: number): number {
    const { sessionOf, members } = this.#sessions;
    this.#best.extend(members.length * BEST - this.#best.length);
    const best = this.#best.numbers.fill(Number.NEGATIVE_INFINITY);
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
    const best = this.#best.numbers;
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
      out.values[at++] = best[first] as number;
      out.values[at++] = meanOfFinite(best.subarray(first, first + BEST));
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

/**
 * The scores by coordinates and by ring attention, with the weights that were set by hand, in the order of their
 * columns.
 */
export const listStructureSignals = once(
  (): Readonly<Record<string, Signal>> => ({
    'trajectory.3': withDimensions(3),
    'trajectory.5': withDimensions(5),
    'trajectory.7': withDimensions(7),
    'attention.rcp': buildAttention('rcp', 'multiplicative'),
    'attention.ircp': buildAttention('ircp', 'multiplicative'),
    'attention.tpo': buildAttention('tpo', 'multiplicative'),
    'attention.rcp-additive': buildAttention('rcp', 'additive'),
  }),
);

const nameDifference = (coordinate: CoordinateName) => `difference.${toSignalPart(coordinate)}`;

/** The distance of query and candidate in one coordinate. */
const listDifferences = (): ReadonlyMap<string, CoordinateName> =>
  new Map(COORDINATES[7].map((name) => [nameDifference(name), name]));

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

/**
 * The parts of the world that a structure signal reads; empty for other signals, of which no control destroys anything.
 */
function listStructureReads(name: string): readonly WorldPart[] {
  const coordinate = listDifferences().get(name);
  return coordinate !== undefined ? listCoordinateReads([coordinate]) : (listStructureSignals()[name]?.reads ?? []);
}

/** The structure signals of a bank, in the order of their columns. */
export const describeStructure = once(() =>
  [...listDifferences().keys(), ...Object.keys(listStructureSignals())].map((name) => ({
    name,
    summary: SUMMARIES[name] as string,
    reads: listStructureReads(name),
  })),
);

/** The inputs of the structure signals: frames for the differences, and the signals themselves. */
export function listStructureInputs(setting: Pick<Setting, 'control'>): Readonly<Record<string, StageUse<unknown>>> {
  return { frames: pairFrames({ ...TRAJECTORY_DEFAULTS, dimensions: 7 }, setting), ...listStructureSignals() };
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
  const signals = Object.keys(listStructureSignals()).map((name): [string, Column] => [name, inputs[name] as Column]);
  return new Map([...differences, ...signals]);
}
