/** The error of scores against those of a reference. */
export interface ScoreError {
  /** Of a node's score. */
  readonly largest: number;
  /** Of a query's scores, L1. */
  readonly distance: number;
  /** The share of the reference's ten best nodes that are among the ten best, mean of the queries. */
  readonly overlap: number;
}

const TOP = 10;

/** @param scores and `exact` row-major [B, V] */
export function measureScoreError(scores: Float64Array, exact: Float64Array, nodes: number): ScoreError {
  let [largest, distance, shared] = [0, 0, 0];
  const queries = exact.length / nodes;
  for (let row = 0; row < exact.length; row += nodes) {
    let sum = 0;
    for (let at = row; at < row + nodes; at++) {
      const error = Math.abs(scores[at]! - exact[at]!);
      largest = Math.max(largest, error);
      sum += error;
    }
    distance = Math.max(distance, sum);
    const best = new Set(rankTopNodes(exact.subarray(row, row + nodes)));
    shared += rankTopNodes(scores.subarray(row, row + nodes)).filter((node) => best.has(node)).length / best.size;
  }
  return { largest, distance, overlap: shared / queries };
}

/** Best first; of equal scores the node that stands first. */
function rankTopNodes(scores: Float64Array): number[] {
  const top: number[] = [];
  for (const [node, score] of scores.entries()) {
    if (top.length === TOP && score <= scores[top[TOP - 1]!]!) continue;
    if (top.length === TOP) top.pop();
    const place = top.findIndex((other) => scores[other]! < score);
    top.splice(place === -1 ? top.length : place, 0, node);
  }
  return top;
}
