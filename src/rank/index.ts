/** The reading of a question, the candidates of an arm in their order, and models that learn from judgements. */

export { computeRawWeights, createLinearModel } from './learning/linear-model.ts';
export { listHandTunedValues } from './learning/parameters.ts';
export { fitStandardisation } from './learning/standardisation.ts';
export { train } from './learning/training.ts';
export { tuneFusion } from './learning/tune-fusion.ts';
export { readWeights, type Weights, writeWeights } from './learning/weight-file.ts';
export { createEntityRegistry } from './query/entity-registry.ts';
export { understand } from './query/understand.ts';
export { retrieve } from './retrieval/retriever.ts';
export { Workspace } from './signals/workspace.ts';
