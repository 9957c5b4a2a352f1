/**
 * Experiments from code or a config, the steps of their arms, stored runs, trainings, plugins, and estimates from logs.
 */

export { z } from 'zod';
export { fromTurns } from './data/memory/from-turns.ts';
export { openConfig } from './lab/config/config.ts';
export type { ExperimentConfig } from './lab/config/config-schema.ts';
export {
  compareByInterleaving,
  estimateFromLog,
  interleaveByTeamDraft,
  listInterleavedOutcomes,
  listLoggedChoices,
} from './lab/measure/counterfactual.ts';
export type { ExperimentResult } from './lab/measure/result.ts';
export { askArm, runExperiment, serveArm } from './lab/on-first-use.ts';
export { definePlugin, type PluginDefinition } from './lab/plugins/plugin.ts';
export { rescore } from './lab/stored/rescore-on-first-use.ts';
export { openRun } from './lab/stored/stored-run.ts';
export { toDataFrame } from './lab/workbench/data-frame.ts';
export type { ArmInput, ExperimentInput } from './lab/workbench/experiment.ts';
export { experiment } from './lab/workbench/experiment.ts';
export type { FinishedExperiment } from './lab/workbench/finished-experiment.ts';
export { showFigure } from './model/figures/figure.ts';
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
