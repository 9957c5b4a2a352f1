import { attachDisplay, buildTableBundle, joinBundles, type ShownRow } from '../../core/display/display.ts';
import { phrase, stateShown } from '../../core/display/showable-text.ts';
import type { PriorBundle } from '../outcomes/prior-bundle.ts';

/** Where an index found a candidate. */
export interface CandidateProvenance {
  readonly index: string;
  /** From 1. */
  readonly rank: number;
  readonly score: number;
}

/** A record that answers a query. */
export interface RankedCandidate {
  readonly recordId: string;
  /** Place in the answer, from 1. */
  readonly rank: number;
  /** What ranks: relevance, mixed with the trajectory score, reranked. */
  readonly score: number;
  /** To the query, in the first index that found it; see `Distance` of the index. */
  readonly distance: number;
  /** The score of that index alone, higher is better. */
  readonly semanticScore: number;
  /** exp(-distance of coordinates), in (0, 1]; null if the query or the record has no trajectory. */
  readonly trajectoryScore: number | null;
  /** Every index that found it, in the order of their names in the query. */
  readonly provenance: readonly CandidateProvenance[];
}

/** The answer to a query. */
export interface QueryResponse {
  /** Over the outcomes of the candidates. */
  readonly prior: PriorBundle;
  /** Best first. */
  readonly candidates: readonly RankedCandidate[];
  /** Milliseconds from question to answer; the one figure that depends on the machine. */
  readonly latency: number;
  readonly indexesSearched: readonly string[];
}

/** The prior as a row of a table. */
function buildPriorRow({ count, mean, variance, min, max, confidence, interval }: PriorBundle): ShownRow {
  const [low, high] = interval ?? [null, null];
  return { count, mean, low, high, variance, min, max, confidence };
}

/** Lets a notebook show an answer: the prior as a row, and its candidates. @returns the same object. */
export function displayResponse(response: QueryResponse): QueryResponse {
  return attachDisplay(response, ({ prior, candidates, indexesSearched }) =>
    joinBundles([
      buildTableBundle([buildPriorRow(prior)], { caption: phrase`prior over the outcomes of the candidates` }),
      buildTableBundle(
        candidates.map(({ rank, recordId, score, distance, semanticScore, trajectoryScore }) => ({
          rank,
          record: stateShown(recordId),
          score,
          distance,
          'semantic score': semanticScore,
          ...(trajectoryScore === null ? {} : { 'trajectory score': trajectoryScore }),
        })),
        { caption: phrase`${candidates.length} candidates, found in ${stateShown(indexesSearched.join(', '))}` },
      ),
    ]),
  );
}
