import { LATE_SCORE_NAMES, LATE_VIEWS, type LateScore, type LateView } from '../../../index/late/late-options.ts';
import type { LateScores } from '../../../index/late/late-scores.ts';
import { nameLateView, prepareTokens } from '../late.ts';
import type { World } from '../signal.ts';
import type { SubcorpusQueries } from '../subcorpus.ts';
import type { AskedQuery, QueryRows } from './query-rows.ts';
import type { SubcorpusTables } from './subcorpus-tables.ts';

/** Scores by position of the turns before a cutoff; 0 for a turn without a token. */
function readScores(scores: LateScores, name: LateScore): Float64Array {
  return scores.get(name).map((score) => (Number.isNaN(score) ? 0 : score));
}

function fillView(
  rows: QueryRows,
  { named, cutoff }: AskedQuery,
  view: LateView,
  scores: LateScores,
  { spread, corpus }: SubcorpusTables,
  author: boolean,
): void {
  const name = nameLateView(view);
  const zidf = readScores(scores, 'zidf');
  rows.spread(name, spread, zidf, cutoff);
  for (const score of LATE_SCORE_NAMES) {
    if (score === 'zidf') continue;
    const values = readScores(scores, score);
    rows.write(`${name}.${score}`, (position) => values[position] as number);
  }
  if (!author) return;
  const isNamed = (position: number) => named.has(corpus.turns[position]?.author ?? '');
  rows.write(`${name}.named`, (position) => (isNamed(position) ? (zidf[position] as number) : 0));
  rows.write(`${name}.other`, (position) => (named.size > 0 && !isNamed(position) ? (zidf[position] as number) : 0));
}

/**
 * Fills the signals of late interaction for the queries of a subcorpus.
 *
 * @param open the rows of a query of the part, and the query as the signals see it.
 */
export async function fillLateSignals(
  world: World,
  { subcorpus: { corpus }, batch }: SubcorpusQueries,
  tables: SubcorpusTables,
  author: boolean,
  open: (row: number) => { readonly rows: QueryRows; readonly asked: AskedQuery },
): Promise<void> {
  const { LateTurns } = await import('../../../index/late/late-turns.ts');
  for (const view of LATE_VIEWS) {
    const tokens = await prepareTokens(world, { view, author });
    await new LateTurns(corpus, tokens, { view, author }).score(batch, (row, scores) => {
      const { rows, asked } = open(row);
      fillView(rows, asked, view, scores, tables, author);
    });
  }
}
