import { z } from 'zod';
import { combinationOptions, combineScores } from './combination.ts';
import type { FusionDefinition } from './fusion-definition.ts';
import { readWeights, type ScoreColumns, sourceWeights } from './score-columns.ts';

const options = { ...combinationOptions, weights: sourceWeights };
const weightedSumOptions = z.strictObject({ method: z.literal('wsum'), ...options });
const weightedMnzOptions = z.strictObject({ method: z.literal('wmnz'), ...options });

/** Source: vogt1999fusion. */
export const weightedSum: FusionDefinition<typeof weightedSumOptions> = {
  options: weightedSumOptions,
  description: 'weight × normalised score, summed over the sources',
  fuse(columns: ScoreColumns, { normalisation, weights }) {
    const values = readWeights(weights, columns);
    return combineScores(columns, normalisation, (scores) =>
      scores.reduce((total, { score, source }) => total + (values[source] as number) * score, 0),
    );
  },
};

/** Source: wu2002fusion. */
export const weightedMnz: FusionDefinition<typeof weightedMnzOptions> = {
  options: weightedMnzOptions,
  description: 'CombSUM times the weights of the sources that returned the candidate, summed',
  fuse(columns: ScoreColumns, { normalisation, weights }) {
    const values = readWeights(weights, columns);
    return combineScores(columns, normalisation, (scores) => {
      const sum = scores.reduce((total, { score }) => total + score, 0);
      return sum * scores.reduce((total, { source }) => total + (values[source] as number), 0);
    });
  },
};
