import { attachDisplay, buildTableBundle, joinBundles, type ShownRow } from '../../core/display/display.ts';
import { phrase, stateShown } from '../../core/display/showable-text.ts';
import type { PriorBundle } from '../outcomes/prior-bundle.ts';
import type { QueryResponse } from './query-response.ts';

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
