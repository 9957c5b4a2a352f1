import type { Candidates } from '../model/candidates.ts';
import type { Column } from '../signals/candidate-pool.ts';
import { defineStage, type StageUse } from '../signals/signal.ts';
import { candidatesOfArm } from './candidate-sources.ts';
import type { RetrieverOptions } from './retriever-options.ts';
import { alignListScores } from './run-scores.ts';

type GraphArm = Pick<RetrieverOptions, 'candidates' | 'propagation' | 'filter'>;

function findGraphCandidates(options: GraphArm): StageUse<Candidates> {
  // The options' schema asks for one source with index graph.
  const source = options.candidates.find(({ index }) => index === 'graph') as RetrieverOptions['candidates'][number];
  return candidatesOfArm(options, source);
}

/** The scores of an arm's graph source as a column of a pool, never negative; 0 for a candidate that the source did not find. */
export const graphScores = defineStage<GraphArm, Column, { readonly found: StageUse<Candidates> }>({
  name: 'graph-scores',
  module: import.meta.url,
  of: 'pairs',
  isKept: false,
  reads: (options) => findGraphCandidates(options).reads,
  key: () => null,
  inputs: (options) => ({ found: findGraphCandidates(options) }),
  compute: ({ pool, inputs: { found } }) => alignListScores(found, pool),
});
