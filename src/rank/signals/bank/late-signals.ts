import { isListed, listVisibleTurns } from '../../../index/candidates/query-batch.ts';
import {
  AROUND_SCORES,
  LATE_SCORE_NAMES,
  LATE_VIEWS,
  type LateScore,
  type LateTexts,
  type LateView,
} from '../../../index/late/late-options.ts';
import type { LateScores } from '../../../index/late/late-scores.ts';
import { findNeighbour, type Sessions } from '../../../model/turns/sessions.ts';
import { nameLateView } from '../late.ts';
import type { World } from '../signal.ts';
import type { SubcorpusQueries } from '../subcorpus.ts';
import type { SignalBankOptions } from './options.ts';
import type { AskedQuery, QueryRows } from './query-rows.ts';
import type { SubcorpusTables } from './subcorpus-tables.ts';

/** The texts of a bank, with the turns around a turn whose scores its signals take. */
interface BankedTexts extends Pick<LateTexts, 'author'> {
  readonly around?: SignalBankOptions['around'];
}

/** Scores by position of the turns before a cutoff; 0 for a turn without a token, and for one that was not compared. */
function readScores(scores: LateScores, name: LateScore, cutoff: number): Float64Array {
  const all = new Float64Array(cutoff);
  const compared = scores.get(name);
  for (const [i, position] of scores.visible.entries())
    all[position] = Number.isNaN(compared[i]) ? 0 : (compared[i] as number);
  return all;
}

function fillView(
  rows: QueryRows,
  { named, cutoff }: AskedQuery,
  view: LateView,
  scores: LateScores,
  { spread, corpus }: SubcorpusTables,
  { author, around }: BankedTexts,
): void {
  const name = nameLateView(view);
  const zidf = readScores(scores, 'zidf', cutoff);
  if (around === 'none') rows.write(name, (position) => zidf[position] as number);
  else rows.spread(name, spread, zidf, cutoff);
  for (const score of LATE_SCORE_NAMES) {
    if (score === 'zidf' || (around === 'none' && AROUND_SCORES.includes(score))) continue;
    const values = readScores(scores, score, cutoff);
    rows.write(`${name}.${score}`, (position) => values[position] as number);
  }
  if (!author) return;
  const isNamed = (position: number) => named.has(corpus.turns[position]?.author ?? '');
  rows.write(`${name}.named`, (position) => (isNamed(position) ? (zidf[position] as number) : 0));
  rows.write(`${name}.other`, (position) => (named.size > 0 && !isNamed(position) ? (zidf[position] as number) : 0));
}

/** Turns before and after a candidate whose scores its own signals take. */
const STEPS = [-2, -1, 1, 2] as const;

/**
 * The turns whose scores the signals of some candidates take, ascending: those of their sessions, and the ones beside
 * them in what `around` says.
 */
function listComparedTurns(candidates: Int32Array, { sessionOf, members }: Sessions, around: Sessions): Int32Array {
  const compared = new Set<number>();
  const begun = new Set<number>();
  for (const position of candidates) {
    if (position < 0) continue;
    for (const step of STEPS) compared.add(findNeighbour(around, position, step));
    const session = sessionOf[position] as number;
    if (begun.has(session)) continue;
    begun.add(session);
    for (const member of members[session] as readonly number[]) compared.add(member);
  }
  compared.delete(-1);
  return Int32Array.from(compared).sort();
}

/**
 * Fills the signals of late interaction for the queries of a subcorpus. They are standardised over the candidates and
 * the turns around these: no token of another turn is computed.
 *
 * @param positions row-major [queries, C] of the candidates, -1 for padding.
 * @param open the rows of a query of the part, and the query as the signals see it.
 */
export async function fillLateSignals(
  world: World,
  { subcorpus: { corpus }, batch }: SubcorpusQueries,
  tables: SubcorpusTables,
  { author, around }: BankedTexts,
  positions: Int32Array,
  open: (row: number) => { readonly rows: QueryRows; readonly asked: AskedQuery },
): Promise<void> {
  const { LateTurns } = await import('../../../index/late/late-turns.ts');
  const tokens = await world.openTokens();
  const isAlone = around === 'none';
  const texts = { author, ...(around && !isAlone && { around }) };
  const views = (isAlone ? (['plain'] as const) : LATE_VIEWS).map((view) => ({
    view,
    late: new LateTurns(corpus, tokens, { ...texts, view }),
  }));
  const { sessions } = (views[0] as (typeof views)[number]).late;
  const width = positions.length / batch.cutoffs.length;
  const visible = Array.from(batch.cutoffs, (_, row) => {
    const own = positions.subarray(row * width, (row + 1) * width);
    const compared = isAlone
      ? own.filter((position) => position >= 0).sort()
      : listComparedTurns(own, tables.sessions, sessions);
    const seen = listVisibleTurns(batch, row);
    return seen === null ? compared : compared.filter((position) => isListed(seen, position));
  });
  const fill = (view: LateView) => (row: number, scores: LateScores) => {
    const { rows, asked } = open(row);
    fillView(rows, asked, view, scores, tables, { author, around });
  };
  for (const { view, late } of views) await late.score({ ...batch, visible }, fill(view), world.startProgress);
}
