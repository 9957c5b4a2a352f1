import { LateTurns } from '../../index/late/late-turns.ts';
import { computeShares } from '../signals/late.ts';
import type { Workspace } from '../signals/workspace.ts';
import type { LateRerankingOptions, ScoreTop } from './column-options.ts';

/**
 * Late interaction of each query with its best candidates, over these alone: 1 / (1 + exp(-score)), 0 for a turn
 * without a token. The turns around a turn are read for its context, whether candidates or not.
 *
 * @throws UnavailableError for a workspace without vectors of tokens.
 */
export async function openLateScores(workspace: Workspace, options: LateRerankingOptions): Promise<ScoreTop> {
  const { corpus, batch } = workspace;
  const turns = new LateTurns(corpus, await workspace.openTokens(), options);
  return async ({ positions, depth }, first) => {
    const end = first + positions.length / depth;
    const rows = Array.from({ length: end - first }, (_, row) => positions.subarray(row * depth, (row + 1) * depth));
    const asked = {
      texts: batch.texts.slice(first, end),
      ...(batch.ids && { ids: batch.ids.slice(first, end) }),
      cutoffs: batch.cutoffs.slice(first, end),
      visible: rows.map((row) => row.filter((position) => position >= 0).sort()),
    };
    const column = new Float32Array(positions.length);
    await turns.score(
      asked,
      (row, scores) => {
        const shares = computeShares(Float32Array.from(scores.get(options.score)));
        const shareOf = new Map(Array.from(scores.visible, (position, i) => [position, shares[i] as number]));
        for (const [i, position] of (rows[row] as Int32Array).entries()) {
          const share = shareOf.get(position);
          if (share !== undefined && !Number.isNaN(share)) column[row * depth + i] = share;
        }
      },
      workspace.startProgress,
      [options.score],
    );
    return column;
  };
}
