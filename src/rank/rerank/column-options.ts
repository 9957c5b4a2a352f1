import { z } from 'zod';
import { selectedCount } from '../../ops/selection/selection-definition.ts';
import { GRAPH_RELATIONS } from '../signals/graph-relations.ts';
import { mentionsSignal } from './mentions.ts';

/** What every reranking by a column has. */
export const columnOptions = {
  k: selectedCount,
  /** Weight of the column against relevance, each as a share of its largest value among the candidates. */
  weight: z.number().min(0).max(1).default(1),
};

const nodeDistanceOptions = z.strictObject({ method: z.literal('node-distance'), ...columnOptions });

export const nodeDistance = {
  options: nodeDistanceOptions,
  description: 'the candidates nearest in the concept graph to the best ten by bm25 and cosine',
  listColumn: () => GRAPH_RELATIONS.distance(null),
};

const mentionsOptions = z.strictObject({
  method: z.literal('mentions'),
  ...columnOptions,
  among: z.enum(['candidates', 'turns']).default('candidates'),
});

export const mentions = {
  options: mentionsOptions,
  description: 'the candidates whose concepts are mentioned most by the other candidates, or by all earlier turns',
  listColumn: ({ among }: z.output<typeof mentionsOptions>) => mentionsSignal(among),
};
