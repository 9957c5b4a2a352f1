/**
 * What a newcomer needs first. Everything else is in its room: `rag-plusplus/attention`, `rag-plusplus/evaluation` and so on. Names come from their own
 * files, since a room loads all of its files. Large functions that return promises load their code with the first call.
 */

export * as tf from '@tensorflow/tfjs-core';
export { z } from 'zod';
export { RING_ATTENTION_DEFAULTS } from './attention/options.ts';
export { ringAttention } from './attention/ring-attention.ts';
export { createIndex } from './candidates/registry.ts';
export { useBackend } from './core/backend.ts';
export { showFigure } from './core/display-figure.ts';
export { showTable } from './core/display-table.ts';
export { RagPlusPlusError } from './core/errors.ts';
export { fromTurns } from './datasets/memory/from-turns.ts';
export { loadDataset } from './datasets/registry.ts';
export { createEncoder } from './embedding/registry.ts';
export { evaluate, summarise } from './evaluation/evaluate.ts';
export { type ExperimentConfig, loadConfig, openConfig } from './experiment/config/config.ts';
export type { ExperimentResult } from './experiment/measure/result.ts';
export { loadPlugin } from './experiment/plugins/load.ts';
export { definePlugin } from './experiment/plugins/plugin.ts';
export { Conversation } from './model/conversation.ts';
export { showThread } from './model/conversation-display.ts';
export { Corpus } from './model/corpus.ts';
export type { Dataset, Query } from './model/dataset.ts';
export type { Turn } from './model/turn.ts';
export { renderHtml } from './report/page/html.ts';
export { renderText } from './report/tables/text-table.ts';
export { Workspace } from './signals/workspace.ts';
export { computeTrajectoryCoordinates } from './trajectory/coordinates.ts';
export { toDataFrame } from './workbench/data-frame.ts';
export { experiment } from './workbench/experiment.ts';
export type { FinishedExperiment } from './workbench/finished-experiment.ts';

type RunExperiment = typeof import('./experiment/run/run.ts').runExperiment;
type Retrieve = typeof import('./retrieval/retriever.ts').retrieve;
type Verify = typeof import('./verification/verify.ts').verify;

/** Runs an experiment from config to result on the active backend: loads the data, tunes and ranks each arm, measures. See `rag-plusplus/experiment`. */
export const runExperiment: RunExperiment = async (...given) =>
  (await import('./experiment/run/run.ts')).runExperiment(...given);

/** Finds every query's candidates, scores them, and reorders the best of them, by an arm's options. See `rag-plusplus/retrieval`. */
export const retrieve: Retrieve = async (...given) => (await import('./retrieval/retriever.ts')).retrieve(...given);

/** Runs golden files of independent programs on the active backend and compares the results. See `rag-plusplus/verification`. */
export const verify: Verify = async (...given) => (await import('./verification/verify.ts')).verify(...given);
