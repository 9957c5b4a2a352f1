import * as tf from '@tensorflow/tfjs-core';
import type { Own, TensorOps } from '../../core/tensors/tensor-op.harness.ts';
import { DIVERSITY_FILTER_DEFAULTS, diversityFilter, markDistinct } from '../../ops/selection/diversity-filter.ts';
import { maximalMarginalRelevance } from '../../ops/selection/maximal-marginal-relevance.ts';
import { computeSimilarities } from '../../ops/selection/selection.ts';
import { rerankByColumn } from './column-reranking.ts';
import { loadSelection, selectionOptions } from './registry.ts';

const uploadRow = (...values: number[]) => tf.tensor2d(values, [1, values.length]);
const uploadSeen = (...values: number[]) => tf.tensor2d(values, [1, values.length], 'bool');

/** Candidates of one query, the first two alike. */
const buildSelectionPool = (own: Own, relevance: number[], mask: number[]) => ({
  relevance: own(uploadRow(...relevance)),
  similarities: own(tf.tensor3d([1, 1, 0, 1, 1, 0, 0, 0, 1], [1, 3, 3])),
  mask: own(uploadSeen(...mask)),
});
const SCORES = [0.8, 0.6, 0.5];
const selectByRelevance = (own: Own, relevance: number[], mask: number[], k: number, lambda = 0.5) =>
  maximalMarginalRelevance(buildSelectionPool(own, relevance, mask), { lambda, k });
const filter = (own: Own, relevance: number[], mask: number[], k: number, lambda = 0.7) =>
  diversityFilter(buildSelectionPool(own, relevance, mask), { ...DIVERSITY_FILTER_DEFAULTS, lambda, k });
const selected = async (own: Own, options: object, mask: number[], k: number) => {
  const select = await loadSelection(selectionOptions.parse(options));
  return select(buildSelectionPool(own, SCORES, mask), k);
};

const rerankBy = (own: Own, column: number[], mask: number[], k: number, weight = 1) =>
  rerankByColumn({ ...buildSelectionPool(own, SCORES, mask), column: own(uploadRow(...column)) }, { weight, k });

export const TENSOR_OPS: TensorOps = {
  rerankByColumn: {
    use: (own) => rerankBy(own, [0.2, 0, 0.4], [1, 1, 1], 2, 0.5),
    refuses: [
      [(own) => rerankBy(own, [0.2, 0, 0.4], [1, 1, 1], 2, 1.5), /weight is outside \[0, 1\]: 1.5/],
      [(own) => rerankBy(own, [0.2, 0, 0.4], [1, 1, 1], 0), /k is not a positive integer: 0/],
      [(own) => rerankBy(own, [0.2, 0], [1, 1, 1], 1), /shape of column/],
      [
        (own) => rerankByColumn(buildSelectionPool(own, SCORES, [1, 1, 1]), { weight: 1, k: 1 }),
        /reranking has no column/,
      ],
    ],
    edges: {
      duplicates: [(own) => rerankBy(own, [0.5, 0.25, 0.5], [1, 1, 1], 3), [0, 2, 1, 1, 1, 0.5]],
      'one turn': [(own) => rerankBy(own, [9, 0.5, 9], [0, 1, 0], 1), [1, 1]],
      'all masked': [(own) => rerankBy(own, [1, 1, 1], [0, 0, 0], 2), [-1, -1, 0, 0]],
      'K > C': [(own) => rerankBy(own, [0.1, 1, 0.2], [1, 0, 1], 5), [2, 0, -1, -1, -1, 1, 0.5, 0, 0, 0]],
    },
  },
  diversityFilter: {
    use: (own) => filter(own, SCORES, [1, 1, 1], 2),
    refuses: [[(own) => filter(own, SCORES, [1, 1, 1], 0), /k is not a positive integer: 0/]],
    edges: {
      duplicates: [(own) => filter(own, SCORES, [1, 1, 1], 3), [0, 2, -1, 0.8, 0.5, 0]],
      'one turn': [(own) => filter(own, SCORES, [0, 1, 0], 1), [1, 0.6]],
      'all masked': [(own) => filter(own, SCORES, [0, 0, 0], 2), [-1, -1, 0, 0]],
      'K > C': [(own) => filter(own, SCORES, [1, 0, 1], 5), [0, 2, -1, -1, -1, 0.8, 0.5, 0, 0, 0]],
    },
  },
  markDistinct: {
    use: (own) => markDistinct(buildSelectionPool(own, SCORES, [1, 1, 1]), 0.85),
    refuses: [
      [
        (own) => markDistinct({ ...buildSelectionPool(own, SCORES, [1, 1, 1]), mask: own(uploadSeen(1, 1)) }, 0.85),
        /shape of mask/,
      ],
    ],
    edges: {
      duplicates: [(own) => markDistinct(buildSelectionPool(own, [0.6, 0.8, 0.5], [1, 1, 1]), 0.85), [0, 1, 1]],
      'one turn': [(own) => markDistinct(buildSelectionPool(own, SCORES, [0, 1, 0]), 0.85), [0, 1, 0]],
      'all masked': [(own) => markDistinct(buildSelectionPool(own, SCORES, [0, 0, 0]), 0.85), [0, 0, 0]],
    },
  },
  loadSelection: {
    use: (own) => selected(own, { method: 'mmr', lambda: 0.5 }, [1, 1, 1], 2),
    refuses: [[(own) => selected(own, { method: 'mmr' }, [1, 1, 1], 0), /k is not a positive integer: 0/]],
    edges: {
      'all masked': [(own) => selected(own, { method: 'diversity-filter' }, [0, 0, 0], 2), [-1, -1, 0, 0]],
      'one turn': [(own) => selected(own, { method: 'mmr' }, [0, 1, 0], 1), [1, 0.42]],
    },
  },
  maximalMarginalRelevance: {
    use: (own) => selectByRelevance(own, SCORES, [1, 1, 1], 2),
    refuses: [[(own) => selectByRelevance(own, SCORES, [1, 1, 1], 2, 1.5), /lambda is outside \[0, 1\]: 1.5/]],
    edges: {
      duplicates: [(own) => selectByRelevance(own, SCORES, [1, 1, 1], 3), [0, 2, 1, 0.4, 0.25, -0.2]],
      'one turn': [(own) => selectByRelevance(own, SCORES, [0, 1, 0], 1), [1, 0.3]],
      'all masked': [(own) => selectByRelevance(own, SCORES, [0, 0, 0], 2), [-1, -1, 0, 0]],
      'K > C': [(own) => selectByRelevance(own, SCORES, [1, 0, 1], 5), [0, 2, -1, -1, -1, 0.4, 0.25, 0, 0, 0]],
    },
  },
  computeSimilarities: {
    use: (own) => computeSimilarities(own(tf.tensor3d([1, 2, 3, 4, 5, 6], [1, 3, 2]))),
    refuses: [[(own) => computeSimilarities(own(uploadRow(1, 2)) as never), /shape of embeddings/]],
    edges: {
      'zero vectors': [(own) => computeSimilarities(own(tf.tensor3d([0, 0, 3, 4], [1, 2, 2]))), [0, 0, 0, 1]],
      duplicates: [(own) => computeSimilarities(own(tf.tensor3d([3, 4, 6, 8], [1, 2, 2]))), [1, 1, 1, 1]],
      'one turn': [(own) => computeSimilarities(own(tf.tensor3d([3, 4], [1, 1, 2]))), [1]],
    },
  },
};
