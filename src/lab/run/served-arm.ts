import { ValidationError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { getOrCompute } from '../../core/values/once.ts';
import type { EncoderOptions } from '../../index/encoders/registry.ts';
import type { ServedArm } from '../../memory/engine/served-arm.ts';
import type { Encoder } from '../../model/encoder.ts';
import type { ArmOptions, ExperimentConfig } from '../config/config.ts';
import { type ArmRunner, openArmRunner, openDataset, type RunnerInputs } from './arm-runner.ts';
import { openConfigSlices } from './run-slices.ts';
import { areVectorsUnread, chooseArmEncoding, openEncoder, openTokens } from './workspaces.ts';

/** The encoders of an arm, each opened on first use. */
class ArmEncoders {
  readonly #open: (options: EncoderOptions | null) => Promise<Encoder>;
  readonly #opened = new Map<string, Promise<Encoder>>();

  constructor(open: (options: EncoderOptions | null) => Promise<Encoder>) {
    this.#open = open;
  }

  get(options: EncoderOptions | null): Promise<Encoder> {
    return getOrCompute(this.#opened, computeHash(options), () => this.#open(options));
  }

  async dispose(): Promise<void> {
    for (const encoder of this.#opened.values())
      await encoder.then(
        (opened) => opened.dispose(),
        () => {}, // it was never opened, as its caller knows
      );
  }
}

/**
 * An arm for a memory, tuned, with the encoders of its experiment: they are fitted on the dev conversations of the
 * dataset. The caller disposes it.
 *
 * @throws ValidationError for an unknown arm; what the tuning and the encoder throw.
 */
export async function openServedArm(runner: ArmRunner, name: string): Promise<ServedArm> {
  const { source } = runner;
  const { config, dataset, slices } = source;
  const arm = await runner.tune(name);
  if (arm.control !== null)
    throw new ValidationError(
      `arm ${name} is a null control (${arm.control.kind}), which is drawn for the queries of a run; use ${arm.extends ?? 'an arm without control'}`,
      { arm: name },
    );
  const own = { ...source, config: chooseArmEncoding(config, arm) };
  const encoders = new ArmEncoders((options) => openEncoder(own, options ?? undefined));
  const { dimension } = await encoders.get(null);
  return {
    ...{ name: arm.name, options: arm, seed: own.config.seed, depth: config.evaluation.depth, dimension },
    comparesVectors: !areVectorsUnread(source, [], [arm]),
    embed: async (texts, owners, options) => {
      const encoder = await encoders.get(options);
      return { dimension: encoder.dimension, vectors: await encoder.encode(texts, undefined, { owners }) };
    },
    openTokens: () => openTokens(own, dataset.devConversations),
    ...(slices && { slices }),
    dispose: () => encoders.dispose(),
  };
}

/** Inputs of {@link serveArm} besides the config. */
export type ServeInputs = Pick<RunnerInputs, 'cacheFolder' | 'dataset' | 'progress'>;

/**
 * The config of one arm with values in the place of its grid, as a memory keeps it: serving it tunes nothing.
 *
 * @throws as {@link serveArm}.
 */
export async function freezeArm(
  config: ExperimentConfig,
  name: string,
  inputs: ServeInputs,
): Promise<ExperimentConfig> {
  const runner = await openArmRunner(config, inputs);
  try {
    const { extends: _, ...arm } = await runner.tune(name);
    const evaluation = { ...config.evaluation, baseline: name };
    return { ...config, arms: [{ ...arm, tune: {} } as ArmOptions], only: null, evaluation };
  } finally {
    await runner.dispose();
  }
}

/** See `serveArm` of the root. */
export async function serveArm(config: ExperimentConfig, name: string, inputs: ServeInputs): Promise<ServedArm> {
  const dataset = await openDataset(config, inputs);
  const slices = await openConfigSlices(config, inputs);
  try {
    const runner = await openArmRunner(config, { ...inputs, dataset, ...(slices && { slices }) });
    try {
      const arm = await openServedArm(runner, name);
      return { ...arm, dispose: () => arm.dispose().finally(() => slices?.close()) };
    } finally {
      await runner.dispose();
    }
  } catch (error) {
    await slices?.close();
    throw error;
  }
}
