/**
 * What a newcomer needs first. Everything else is in its room: `rag-plusplus/attention`, `rag-plusplus/evaluation` and so on. Names come from their own
 * files, since a room loads all of its files. Large functions that return promises load their code with the first call.
 */

export * as tf from '@tensorflow/tfjs-core';
export { z } from 'zod';
export { showTable } from './core/display/display-table.ts';
export { RagPlusPlusError } from './core/errors/errors.ts';
export { useBackend } from './core/tensors/backend.ts';
export { fromTurns } from './data/memory/from-turns.ts';
export { loadDataset } from './data/registry.ts';
export { evaluate, summarise } from './eval/metrics/evaluate.ts';
export { createEncoder } from './index/encoders/registry.ts';
export { createIndex } from './index/registry.ts';
export { type ExperimentConfig, loadConfig, openConfig } from './lab/config/config.ts';
export type { ExperimentResult } from './lab/measure/result.ts';
export { loadPlugin } from './lab/plugins/load.ts';
export { definePlugin } from './lab/plugins/plugin.ts';
export { renderHtml } from './lab/report/page/html.ts';
export { renderText } from './lab/report/tables/text-table.ts';
export { toDataFrame } from './lab/workbench/data-frame.ts';
export { experiment } from './lab/workbench/experiment.ts';
export type { FinishedExperiment } from './lab/workbench/finished-experiment.ts';
export type { Dataset, Query } from './model/dataset.ts';
export { showFigure } from './model/figures/figure.ts';
export { Conversation } from './model/turns/conversation.ts';
export { showThread } from './model/turns/conversation-display.ts';
export { Corpus } from './model/turns/corpus.ts';
export type { Turn } from './model/turns/turn.ts';
export { RING_ATTENTION_DEFAULTS } from './ops/attention/options.ts';
export { ringAttention } from './ops/attention/ring-attention.ts';
export { computeTrajectoryCoordinates } from './ops/trajectory/coordinates.ts';
export {
  blend,
  boost,
  curate,
  decay,
  filter,
  fuse,
  mix,
  pack,
  propagate,
  rerank,
  score,
  search,
  select,
  slice,
} from './rank/retrieval/steps/functions.ts';
export { Workspace } from './rank/signals/workspace.ts';

type RunExperiment = typeof import('./lab/run/run.ts').runExperiment;
type Retrieve = typeof import('./rank/retrieval/retriever.ts').retrieve;
type Verify = typeof import('./lab/verification/verify.ts').verify;

/** Runs an experiment from config to result on the active backend: loads the data, tunes and ranks each arm, measures. See `rag-plusplus/experiment`. */
export const runExperiment: RunExperiment = async (...given) =>
  (await import('./lab/run/run.ts')).runExperiment(...given);

/** Finds every query's candidates, scores them, and reorders the best of them, by the steps of an arm. See `rag-plusplus/retrieval`. */
export const retrieve: Retrieve = async (...given) =>
  (await import('./rank/retrieval/retriever.ts')).retrieve(...given);

/** Runs golden files of independent programs on the active backend and compares the results. See `rag-plusplus/verification`. */
export const verify: Verify = async (...given) => (await import('./lab/verification/verify.ts')).verify(...given);
