/** Experiments from code: what `ragpp run` does, without files. */

export { type FrameConstructor, type FrameRows, type FrameSource, toDataFrame } from './data-frame.ts';
export { type Experiment, type ExperimentRunOptions, experiment } from './experiment.ts';
export type { ArmInput, ArmMapping, ExperimentInput, MetricName, Plugins } from './experiment-input.ts';
export type { ArmComparison, FinishedExperiment, QueryRow, TableFormat } from './finished-experiment.ts';
export { assertSignalContract, type SignalContractOptions } from './signal-contract.ts';
