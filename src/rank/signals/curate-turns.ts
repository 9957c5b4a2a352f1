import { findSimilarTurns } from '../../index/vectors/distances.ts';
import { type ComparedText, decideByRules, readCuratedText } from '../../model/text/curation-rules.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { CurationArmOptions } from './signal-options.ts';

/** What the turns of a corpus do to each other when they come in, one after the other. */
interface Curated {
  /** [N] the position of the turn that a decision about this one came with: itself for a duplicate; -1: no decision. */
  readonly since: Int32Array;
  /** [N] the factor from then on. */
  readonly factors: Float32Array;
}

/**
 * Compares every turn with its nearest earlier ones, in the order of time. A turn that is dropped or was superseded is compared with no later one.
 *
 * @param vectors row-major [N, D], unit rows.
 */
export async function curateTurns(
  { turns }: Pick<Corpus, 'turns'>,
  vectors: Float32Array,
  dimension: number,
  { neighbours, tombstone, rules }: CurationArmOptions,
): Promise<Curated> {
  const ids = turns.map(({ id }) => id);
  const above = Math.min(rules.duplicateAbove, rules.updateAbove, rules.contradictAbove);
  const similar = await findSimilarTurns(ids, vectors, dimension, above);
  const positionOf = new Map(ids.map((id, position) => [id, position]));
  const texts = turns.map(({ text }) => readCuratedText(text));
  const since = new Int32Array(turns.length).fill(-1);
  const factors = new Float32Array(turns.length).fill(1);
  for (const [position, text] of texts.entries()) {
    const nearest = Array.from(similar[position]!, ([id, cosine]) => ({ other: positionOf.get(id) as number, cosine }));
    const known = nearest.slice(0, neighbours).filter(({ other }) => since[other] === -1);
    const compared = known.map(({ other, cosine }): ComparedText => ({ text: texts[other]!, cosine }));
    const { operation, neighbour } = decideByRules(text, compared, rules);
    if (neighbour === null) continue;
    const changed = operation === 'noop' ? position : known[neighbour]!.other;
    since[changed] = position;
    factors[changed] = operation === 'delete' ? tombstone : 0;
  }
  return { since, factors };
}
