import { ATTRIBUTE_SIGNALS } from '../../signals/bank/attributes.ts';
import { type BankSignal, bankSignals, type ScoringOptions } from '../../signals/bank/options.ts';
import { signalTable } from '../../signals/bank/signal-bank.ts';
import { defineStep, PendingScores, requirePool } from './step.ts';

/** The signals that a mix gives a weight. */
function listWeighedSignals({ signals, weights }: ScoringOptions): BankSignal[] {
  return bankSignals(signals).filter(({ name }) => (weights[name] ?? 0) !== 0);
}

const REMEDY = 'remove its weight from the weights of the mix';

/** The weighted sum of signals of the bank. */
export const mix = defineStep<ScoringOptions>({
  name: 'mix',
  summary: 'the weighted sum of signals of the bank, with weights of a file or of the config',
  takes: ['pool'],
  gives: 'scores',
  component: () => 'scoring',
  stages: ({ signals }, _, world, pool) => [world.stage(signalTable(signals), pool)],
  apply: async (options, state, _, watch) => {
    const pool = requirePool(state);
    const { mixSignals } = await import('../../signals/bank/mixed-signals.ts');
    const scores = await watch('scoring', () => mixSignals(state.world, pool, options));
    const components = new Map([...state.components, ['scoring', scores] as const]);
    return { ...state, components, scores: new PendingScores([pool.queryCount, pool.width], scores) };
  },
  explain: (_, parts) => parts.startMix(),
  reads: (options) => listWeighedSignals(options).flatMap(({ reads }) => reads),
  needs: (options, _, find) =>
    listWeighedSignals(options).flatMap((signal) => {
      const needs = find(signal);
      return needs === null ? [] : [{ needs, part: `scoring signal ${signal.name}`, remedy: REMEDY }];
    }),
  attributes: ({ weights }) =>
    Object.keys(ATTRIBUTE_SIGNALS)
      .filter((signal) => (weights[signal] ?? 0) !== 0)
      .map((attribute) => ({ part: `scoring signal ${attribute}`, attribute, remedy: REMEDY })),
  origins: ({ origin }) => [origin],
  mix: (options) => options,
});
