import { ValidationError } from '../../core/errors/errors.ts';
import type { Dimensions } from '../../ops/trajectory/coordinate-names.ts';
import { computeAgesHours } from '../../ops/trajectory/time-decay.ts';
import { listAheadSignals, listTrajectorySignals, TURNS_AHEAD } from '../../rank/learning/model.ts';
import type { SignalTable } from '../../rank/signals/bank/signal-bank.ts';
import { findForwardCosines, listTurnsAhead } from '../../rank/signals/forward-mass.ts';
import { toSignalPart } from '../../rank/signals/plan.ts';
import { TRAJECTORY_DEFAULTS } from '../../rank/signals/signal-options.ts';
import type { CandidatePool, Column } from '../../rank/signals/stage.ts';
import { pairFrames } from '../../rank/signals/trajectory-score.ts';
import type { Workspace } from '../../rank/signals/workspace.ts';

/** Inputs of the model besides the bank that compare vectors: they differ between encoders. */
export const VECTOR_INPUTS: readonly string[] = [
  'relevance',
  'relevance@neighbour',
  'relevance@session',
  'coordinate.homogeneity',
  ...listAheadSignals(),
];

/** The scores whose shares of the best make up relevance. */
const RELEVANCE = ['bm25', 'cosine'] as const;

/** The signals of the bank that relevance is made of. */
export const RELEVANCE_SIGNALS: readonly string[] = RELEVANCE.flatMap((score) =>
  ['', '@share', '@previous', '@next', '@session-best'].map((suffix) => `${score}${suffix}`),
);

function createColumnReader({ signals, values }: SignalTable): (name: string) => Column {
  return (name) => {
    const at = signals.indexOf(name);
    if (at < 0)
      throw new ValidationError(`a trajectory model needs a missing signal of group text: ${name}; add the group text`);
    return Float32Array.from(
      { length: values.length / signals.length },
      (_, pair) => values[pair * signals.length + at] as number,
    );
  };
}

/** The best score that any turn has for each query, [Q]: a share is a score divided by it, so one candidate with a share determines it. 0 if no candidate has one. */
function findBestScores(scores: Column, shares: Column, width: number): Float64Array {
  const best = new Float64Array(scores.length / width);
  for (const [pair, share] of shares.entries())
    if (share > 0) best[Math.floor(pair / width)] = (scores[pair] as number) / share;
  return best;
}

/**
 * Words and embedding as shares of the query's best score, the mean of both: of the candidate, of the better of the turns beside it, and of the best of its
 * session. Never negative.
 */
function computeRelevanceInputs(column: (name: string) => Column, width: number): Record<string, Column> {
  const best = new Map(
    RELEVANCE.map((score) => [score, findBestScores(column(score), column(`${score}@share`), width)]),
  );
  const meanShare = (signalsOf: (score: string) => string[]) => {
    const mean = new Float32Array(column('bm25').length);
    for (const score of RELEVANCE) {
      const columns = signalsOf(score).map(column);
      for (let pair = 0; pair < mean.length; pair++) {
        const most = best.get(score)![Math.floor(pair / width)] as number;
        const found = Math.max(0, ...columns.map((values) => values[pair] as number));
        if (most > 0) mean[pair]! += found / most / RELEVANCE.length;
      }
    }
    return mean;
  };
  return {
    relevance: meanShare((score) => [score]),
    'relevance@neighbour': meanShare((score) => [`${score}@previous`, `${score}@next`]),
    'relevance@session': meanShare((score) => [`${score}@session-best`]),
  };
}

/** The relation of candidates to the turns after them, at each query's time. */
async function computeAheadColumns(
  workspace: Workspace,
  pool: CandidatePool,
  counts: Float32Array,
): Promise<Record<string, Column>> {
  const { corpus } = workspace;
  const cosines = await findForwardCosines(workspace, pool.positions, TURNS_AHEAD);
  const ahead = listTurnsAhead(corpus, cosines, TURNS_AHEAD);
  const cosine = new Float64Array(1);
  const look = (position: number, steps: number, turns: number) => {
    const looker = { position, ringPosition: corpus.ringPosition[position] as number, turns };
    ahead.copyCosines(looker, steps, steps + 1, cosine, 0);
    return cosine[0] as number;
  };
  const columns: Record<string, Column> = {};
  for (let k = 1; k <= TURNS_AHEAD; k++) {
    columns[`ahead.${k}`] = Float32Array.from(pool.positions, (position, pair) =>
      position < 0 || k > (counts[pair] as number) ? 0 : look(position, k, counts[pair] as number),
    );
  }
  return columns;
}

/**
 * A table with the further inputs of a trajectory model.
 *
 * @throws ValidationError for a table without the signals of group text.
 */
export async function withTrajectorySignals(
  workspace: Workspace,
  pool: CandidatePool,
  table: SignalTable,
  dimensions: Dimensions,
): Promise<SignalTable> {
  const frames = await workspace.get(pairFrames({ ...TRAJECTORY_DEFAULTS, dimensions }, workspace), pool);
  const counts = Float32Array.from(pool.positions, (position, pair) =>
    position < 0 ? 0 : (frames.turns[pair] as number) - 1 - (frames.ringPositions[pair] as number),
  );
  const moments = Float64Array.from(workspace.queries, ({ timestamp }) => timestamp);
  const column = createColumnReader(table);
  const columns: Record<string, Column> = {
    ...computeRelevanceInputs(column, pool.width),
    'age.hours': computeAgesHours(workspace.corpus.timestamps, moments, pool.positions),
    'ring.distance': frames.ringDistances,
    'cold-start': Float32Array.from(frames.coldStart),
    'ahead.count': counts,
    ...(await computeAheadColumns(workspace, pool, counts)),
    ...Object.fromEntries(
      frames.names.map((name, i) => [
        `coordinate.${toSignalPart(name)}`,
        Float32Array.from(pool.positions, (_, pair) => {
          const at = pair * frames.names.length + i;
          return (frames.candidates[at] as number) - (frames.queries[at] as number);
        }),
      ]),
    ),
  };
  const added = listTrajectorySignals(dimensions).filter((name) => !table.signals.includes(name));
  return appendColumns(table, added, columns);
}

function appendColumns(
  { signals, values }: SignalTable,
  added: readonly string[],
  columns: Readonly<Record<string, Column>>,
): SignalTable {
  const pairs = values.length / signals.length;
  const F = signals.length + added.length;
  const all = new Float32Array(pairs * F);
  const chosen = added.map((name) => columns[name] as Column);
  for (let pair = 0; pair < pairs; pair++) {
    all.set(values.subarray(pair * signals.length, (pair + 1) * signals.length), pair * F);
    for (let i = 0; i < chosen.length; i++) all[pair * F + signals.length + i] = chosen[i]![pair] as number;
  }
  return { signals: [...signals, ...added], values: all };
}
