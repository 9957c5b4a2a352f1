/** Trains models on the signals of an experiment's candidates, and tests weights on a split that they have not seen. */

export { runTest } from './test-run.ts';
export { loadTrainingConfig, openTrainingConfig, type TrainingConfig, trainingConfig } from './training-config.ts';
export { type FinishedTraining, runTraining, type TrainingContext } from './training-run.ts';
