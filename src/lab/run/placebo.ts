import { ValidationError } from '../../core/errors/errors.ts';
import { createRandom, type Random } from '../../core/numbers/random.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { type Corpus, findLowerBound } from '../../model/turns/corpus.ts';
import type { TieOrder } from '../../model/turns/tie-rule.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { listSourceVisible } from '../../rank/retrieval/candidate-sources.ts';
import { createPoolFilter } from '../../rank/retrieval/query-filter.ts';
import { rank } from '../../rank/retrieval/rank.ts';
import { type ArmRanking, listRankedPositions } from '../../rank/retrieval/retriever.ts';
import { readArm } from '../../rank/retrieval/written-steps.ts';
import type { World } from '../../rank/signals/signal.ts';
import { joinCandidates, type Stage } from '../../rank/signals/stage.ts';
import type { SubcorpusQueries } from '../../rank/signals/subcorpus.ts';
import type { Workspace } from '../../rank/signals/workspace.ts';
import type { ArmOptions } from '../config/config.ts';
import { createTokenCounter } from '../measure/passport.ts';
import { findQueryConversation } from './rankings.ts';

/** Turns in a row that do not fit into what is left, after which a placebo ends. */
const MOST_MISFITS = 64;

/** The turns that a query may see at its moment. */
interface Seen {
  readonly size: number;
  /** The corpus position of one of them. */
  read(at: number): number;
}

/** All of them in random order, each once (Fisher and Yates), at the cost of those that are asked for. */
function* drawOrder({ size, read }: Seen, random: Random): Generator<number> {
  const moved = new Map<number, number>();
  for (let last = size - 1; last >= 0; last--) {
    const at = random.integer(last + 1);
    const drawn = moved.get(at) ?? at;
    moved.set(at, moved.get(last) ?? last);
    yield read(drawn);
  }
}

/**
 * What of the data is related to a query, as a whole: a conversation, where the query asks all of them; a session
 * (channel) of the conversation that it asks alone, or a single turn where turns have none.
 */
const nameUnit = ({ conversationId, channel, id }: Turn, asksOne: boolean) =>
  asksOne ? (channel ?? id) : conversationId;

/** The units of the turns that are judged above 0, and the query's own conversation where the query asks all. */
function listRelatedUnits(dataset: Dataset, query: Query, asksOne: boolean): ReadonlySet<string> {
  const judged = [...(dataset.qrels.get(query.id) ?? [])].flatMap(([id, grade]) => (grade > 0 ? [id] : []));
  const units = judged.map((id) => nameUnit(dataset.corpus.getTurn(id), asksOne));
  return new Set(asksOne ? units : [...units, findQueryConversation(dataset, query)]);
}

/** @param row of the part's queries. */
function findSeen({ subcorpus, batch }: SubcorpusQueries, row: number): Seen {
  const cutoff = batch.cutoffs[row] as number;
  const list = batch.visible?.[row] ?? null;
  const size = list === null ? cutoff : findLowerBound(list, cutoff);
  return { size, read: (at: number) => subcorpus.positions[list === null ? at : (list[at] as number)] as number };
}

/** Turns in the order of a draw whose tokens together are as many as `budget`; a turn that does not fit is left out. */
function fillBudget(
  drawn: Iterable<number>,
  budget: number,
  isUnrelated: (position: number) => boolean,
  countTokens: (position: number) => number,
): number[] {
  const shown: number[] = [];
  let left = budget;
  let misfits = 0;
  for (const position of drawn) {
    if (left === 0 || misfits === MOST_MISFITS) break;
    if (!isUnrelated(position)) continue;
    const tokens = countTokens(position);
    if (tokens === 0) continue;
    misfits = tokens > left ? misfits + 1 : 0;
    if (tokens > left) continue;
    shown.push(position);
    left -= tokens;
  }
  return shown;
}

/** [Q] the unrelated turns of each query, in the order of their draw. @param budgets [Q] tokens */
async function drawUnrelated(
  world: World,
  dataset: Dataset,
  options: ArmOptions,
  budgets: readonly number[],
  countTokens: (position: number) => number,
): Promise<number[][]> {
  const { view, poolFilters } = readArm(options).outline;
  const visible = await listSourceVisible(world, view);
  const admits = createPoolFilter(poolFilters, world);
  const seed = options.control?.seed ?? world.seed;
  const shown: number[][] = budgets.map(() => []);
  for (const part of world.subcorpora.split({ ...world.batch, ...(visible && { visible }) })) {
    const asksOne = part.subcorpus.conversationId !== null;
    for (const [row, index] of part.queryIndexes.entries()) {
      const query = world.queries[index] as Query;
      const related = listRelatedUnits(dataset, query, asksOne);
      const isUnrelated = (position: number) =>
        admits(index, position) && !related.has(nameUnit(world.corpus.turns[position] as Turn, asksOne));
      const drawn = drawOrder(findSeen(part, row), createRandom(seed, `placebo/${query.id}`));
      shown[index] = fillBudget(drawn, budgets[index] as number, isUnrelated, countTokens);
    }
  }
  return shown;
}

const createPositionCounter = (corpus: Corpus) => {
  const countTokens = createTokenCounter(corpus);
  return (position: number) => countTokens((corpus.turns[position] as Turn).id);
};

const computeMean = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

/** Ranks shown turns in their order. @param shown [Q] positions; at least one. @param stage of the arm's pool */
async function rankShown(shown: readonly (readonly number[])[], compareTies: TieOrder, stage: Stage) {
  const width = Math.max(...shown.map((row) => row.length));
  const positions = new Int32Array(shown.length * width).fill(-1);
  for (const [q, row] of shown.entries()) positions.set(row, q * width);
  const found = { positions, scores: new Float32Array(positions.length), width };
  const pool = { ...joinCandidates([found], shown.length, compareTies, () => true), stage };
  const scores = Float32Array.from(pool.positions, (position, pair) => {
    const row = shown[Math.floor(pair / width)] as readonly number[];
    return position < 0 ? 0 : row.length - row.indexOf(position);
  });
  const ranking = await rank(pool, scores, width, (query, position) => `query ${query}, turn ${position}`);
  return { retrieved: { pool, scores, components: new Map([['draw', scores]]) }, ranking };
}

/**
 * The placebo of an arm: for each query as many tokens of unrelated turns as the arm shows, drawn by the seed among
 * the turns that the query may see at its moment. A turn is unrelated if its conversation is not the query's and has
 * no turn that is judged above 0. Of a query that asks one conversation, a turn is unrelated if its session (channel)
 * has no such turn; without sessions, if it is not judged above 0 itself. Judgements leave turns out and choose none.
 *
 * Tokens are words, as in metrics with a budget. A query has fewer tokens than its arm by less than the shortest of the
 * last 64 turns of the draw, which did not fit; or it has no further unrelated turn.
 *
 * @param arm the ranking of the arm itself.
 * @throws ValidationError where no query has an unrelated turn.
 */
export async function drawPlacebo(
  workspace: Workspace,
  dataset: Dataset,
  options: ArmOptions,
  arm: ArmRanking,
): Promise<ArmRanking> {
  const world = workspace.under(options.control);
  const { depth, positions } = listRankedPositions(arm);
  const countTokens = createPositionCounter(world.corpus);
  const sumTokens = (row: Iterable<number>) => [...row].reduce((sum, position) => sum + countTokens(position), 0);
  const budgets = world.queries.map((_, q) =>
    sumTokens(positions.subarray(q * depth, (q + 1) * depth).filter((position) => position >= 0)),
  );
  const shown = await drawUnrelated(world, dataset, options, budgets, countTokens);
  const queries = shown.filter((row) => row.length > 0).length;
  if (queries === 0)
    throw new ValidationError(
      `placebo of arm ${options.extends}: none of ${shown.length} queries has an unrelated turn; leave placebo out, or widen what the arm may see`,
      { arm: options.name, queries: shown.length },
    );
  const tokens = { shown: computeMean(shown.map(sumTokens)), of: computeMean(budgets) };
  const ranked = await rankShown(shown, world.corpus.compareTies, arm.retrieved.pool.stage);
  return { ...ranked, changes: [{ step: 'placebo', queries, tokens }] };
}
