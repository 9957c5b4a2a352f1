import type { FitOptions } from '../../rank/learning/fit-options.ts';
import type { SignalBankOptions } from '../../rank/signals/bank/options.ts';
import { type FittedArm, findFittedArm } from '../config/arm-selection.ts';
import type { ExperimentConfig } from '../config/config-schema.ts';
import { chooseArmEncoding } from '../run/workspaces.ts';

/** An experiment with its fitted arm, the bank of its signals and its fit. */
export interface TrainingConfig extends ExperimentConfig {
  readonly arm: FittedArm;
  readonly signals: SignalBankOptions;
  readonly fit: FitOptions;
}

/**
 * The training of an experiment, with the encoder and the seed of its arm.
 *
 * @param arm with other steps, for other data
 */
export function readTraining(config: ExperimentConfig, arm = findFittedArm(config) as FittedArm): TrainingConfig {
  return { ...config, ...chooseArmEncoding(config, arm), arm, signals: arm.mix.signals, fit: arm.mix.fit };
}
