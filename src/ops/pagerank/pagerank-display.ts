import { attachDisplay } from '../../core/display/display.ts';
import { buildTableBundle } from '../../core/display/display-table.ts';
import { phrase, stateShown } from '../../core/display/showable-text.ts';
import type { PageRankResult } from './pagerank-solver.ts';

/** Nodes shown of each query. */
const SHOWN_NODES = 5;
/** Only these are sorted: a graph may be large, and the queries many. */
const SHOWN_QUERIES = 6;

/** Lets a notebook show the nodes with the highest scores of each query. @returns the same object. */
export function displayPageRank(result: PageRankResult, nodeIds: readonly string[]): PageRankResult {
  return attachDisplay(result, ({ scores, iterations, errorBounds }) => {
    const rows = Array.from(errorBounds.subarray(0, SHOWN_QUERIES), (errorBound, query) => {
      const row = scores.subarray(query * nodeIds.length, (query + 1) * nodeIds.length);
      const order = Array.from(row.keys()).sort((a, b) => (row[b] as number) - (row[a] as number) || a - b);
      return order.slice(0, SHOWN_NODES).map((node) => ({
        query,
        node: stateShown(nodeIds[node] as string),
        score: row[node],
        iterations: iterations[query],
        errorBound,
      }));
    });
    const queries = errorBounds.length === 1 ? phrase`1 query` : phrase`${errorBounds.length} queries`;
    const shown = errorBounds.length > SHOWN_QUERIES ? phrase`the first ${SHOWN_QUERIES} queries` : phrase`each query`;
    const caption = phrase`PageRank of ${queries} over ${nodeIds.length} nodes; the first ${SHOWN_NODES} of ${shown}`;
    return buildTableBundle(rows.flat(), { caption });
  });
}
