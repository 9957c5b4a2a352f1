import { ValidationError } from '../../../core/errors/errors.ts';
import type { FittedMix } from '../../learning/fit-options.ts';
import { ATTRIBUTE_SIGNALS } from '../../signals/bank/attributes.ts';
import { type BankSignal, bankSignals, type ScoringOptions } from '../../signals/bank/options.ts';
import { signalTable } from '../../signals/bank/signal-bank.ts';
import type { DataReader, FindNeed } from './data-readers.ts';
import { defineStep, PendingScores, requirePool } from './step.ts';

/** A mix with its weights, or one whose weights are fitted. */
export type MixOptions = ScoringOptions | FittedMix;

/** The signals that a mix gives a weight, or may give one. A trajectory model reads none of the bank by itself. */
function listWeighedSignals(options: MixOptions): BankSignal[] {
  const all = bankSignals(options.signals);
  if (!('fit' in options)) return all.filter(({ name }) => (options.weights[name] ?? 0) !== 0);
  const { model } = options.fit;
  return model.name === 'trajectory' ? [] : all.filter(({ name }) => model.signals?.includes(name) ?? true);
}

const describeRemedy = (options: MixOptions) =>
  'fit' in options ? 'list other signals in mix.fit.model.signals' : 'remove its weight from the weights of the mix';

/** What a trajectory model reads of the data. */
function listTrajectoryNeeds(find: FindNeed): DataReader[] {
  const remedy = 'fit model linear on other signals';
  const needs = find({ name: 'trajectory', reads: ['coordinates', 'clock'] });
  if (needs === 'threads') return [{ needs, part: 'trajectory coordinates', remedy }];
  return needs === null ? [] : [{ needs, part: 'age in hours and coordinate temporal', remedy }];
}

/** The weighted sum of signals of the bank. */
export const mix = defineStep<MixOptions>({
  name: 'mix',
  summary: 'the weighted sum of signals of the bank, with weights of a file or of the config, or fitted on dev',
  takes: ['pool'],
  gives: 'scores',
  component: () => 'scoring',
  stages: ({ signals }, _, world, pool) => [world.stage(signalTable(signals), pool)],
  apply: async (options, state, _, watch) => {
    if ('fit' in options)
      throw new ValidationError(
        'mix of the arm has no weights but a fit; run the config, and name the weight file that it leaves: mix: weights-linear.safetensors',
      );
    const pool = requirePool(state);
    const { mixSignals } = await import('../../signals/bank/mixed-signals.ts');
    const scores = await watch('scoring', () => mixSignals(state.world, pool, options));
    const components = new Map([...state.components, ['scoring', scores] as const]);
    return { ...state, components, scores: new PendingScores([pool.queryCount, pool.width], scores) };
  },
  explain: (_, parts) => parts.startMix(),
  reads: (options) => listWeighedSignals(options).flatMap(({ reads }) => reads),
  needs: (options, _, find) => {
    if ('fit' in options && options.fit.model.name === 'trajectory') return listTrajectoryNeeds(find);
    return listWeighedSignals(options).flatMap((signal) => {
      const needs = find(signal);
      return needs === null ? [] : [{ needs, part: `scoring signal ${signal.name}`, remedy: describeRemedy(options) }];
    });
  },
  attributes: (options) =>
    listWeighedSignals(options)
      .filter(({ name }) => Object.hasOwn(ATTRIBUTE_SIGNALS, name))
      .map(({ name }) => ({ part: `scoring signal ${name}`, attribute: name, remedy: describeRemedy(options) })),
  origins: (options) => ('fit' in options ? [] : [options.origin]),
  mix: (options) => ('fit' in options ? null : options),
});
