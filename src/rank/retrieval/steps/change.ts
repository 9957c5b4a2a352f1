import * as tf from '@tensorflow/tfjs-core';
import { ValidationError } from '../../../core/errors/errors.ts';
import type { AttributeValue } from '../../../model/turns/memory-fields.ts';
import type { FittedMix } from '../../learning/fit-options.ts';
import { attentionSignal } from '../../signals/attention.ts';
import { type BankSignal, bankSignals, createColumnSignals, type ScoringOptions } from '../../signals/bank/options.ts';
import { signalTable } from '../../signals/bank/signal-bank.ts';
import { type BoostOptions, boostSignal, computeBoostFactor } from '../../signals/boost.ts';
import { closedFactsSignal, curationSignal } from '../../signals/curation.ts';
import { type DecayOptions, decaySignal } from '../../signals/decay.ts';
import type { AttentionOptions, CurationArmOptions, TrajectoryOptions } from '../../signals/signal-options.ts';
import { trajectorySignal } from '../../signals/trajectory.ts';
import { blendTrajectory } from '../../signals/trajectory-score.ts';
import { blendScores, divideOnHost, divideScoresByRowMaximum, mixOnHost, multiplyOnHost } from '../blend.ts';
import { type DataReader, defineScoreStep, defineStep, type FindNeed, PendingScores, requirePool } from './step.ts';

/** Scores times 1 + factor x attribute of each boost. */
export const boost = defineScoreStep<BoostOptions>({
  name: 'boost',
  summary: 'multiplies scores by 1 + factor × attribute of each boost, each at least 0',
  signal: boostSignal,
  change: (_, scores, column) => tf.mul(scores, column),
  changeOnHost: () => multiplyOnHost,
  explain: (_, parts, component) => parts.multiply(component),
  attributes: (boosts) =>
    boosts.map(({ attribute }) => ({ part: `boost of ${attribute}`, attribute, remedy: 'remove it from boosts' })),
  assertData: (boosts, { name, corpus }, owner) => {
    for (const boosted of boosts)
      for (const { id, attributes = {} } of corpus.turns) {
        if (!Object.hasOwn(attributes, boosted.attribute)) continue;
        const value = attributes[boosted.attribute] as AttributeValue;
        computeBoostFactor(
          boosted,
          value,
          `boost of ${boosted.attribute} of ${owner}`,
          `turn ${id} of dataset ${name}`,
        );
      }
  },
});

/** Scores times what curation, by rules or by facts, leaves of a turn. */
export const curate = defineScoreStep<CurationArmOptions>({
  name: 'curate',
  summary: 'multiplies scores by what curation, by rules or by facts, leaves of a turn',
  component: () => 'curation',
  signal: (options) => (options.facts === undefined ? curationSignal(options) : closedFactsSignal(options)),
  attributes: ({ facts }) =>
    facts === undefined ? [] : [{ part: 'curate by facts', attribute: 'object', remedy: 'leave facts out of curate' }],
  change: (_, scores, column) => tf.mul(scores, column),
  changeOnHost: () => multiplyOnHost,
  explain: (_, parts, component) => parts.multiply(component),
});

/** Scores halved for each half-life of age. */
export const decay = defineScoreStep<DecayOptions>({
  name: 'decay',
  summary: 'halves scores for every half-life of age',
  signal: decaySignal,
  change: (_, scores, column) => tf.mul(scores, column),
  changeOnHost: () => multiplyOnHost,
  explain: (_, parts, component) => parts.multiply(component),
  needs: ({ halfLifeHours }, _, find) => {
    const needs = find(decaySignal({ halfLifeHours }));
    if (needs === null) return [];
    const part = `decay with half-life ${halfLifeHours} hours`;
    return [{ needs, part, remedy: 'leave the step decay out' }];
  },
});

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

/** The parts of the data that a trajectory model reads. */
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
    const { mixSignals } = await import('../../signals/bank/refitted-signals.ts');
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
      .filter(({ name }) => Object.hasOwn(createColumnSignals('attributes'), name))
      .map(({ name }) => ({ part: `scoring signal ${name}`, attribute: name, remedy: describeRemedy(options) })),
  origins: (options) => ('fit' in options ? [] : [options.origin]),
  mix: (options) => ('fit' in options ? null : options),
});

/** `(1 - weight) scores / max(scores) + weight exp(-D / sigma)` of the distance D in trajectory coordinates. */
export const blendWithTrajectory = defineScoreStep<TrajectoryOptions>({
  name: 'blend.trajectory',
  summary: 'blends scores with exp(-D / sigma) of the distance D in trajectory coordinates',
  component: () => 'trajectory',
  signal: trajectorySignal,
  change: ({ weight }, scores, column) => blendTrajectory(divideScoresByRowMaximum(scores), column, weight),
  changeOnHost:
    ({ weight }) =>
    (scores, column, width) =>
      mixOnHost(divideOnHost(scores, width), column, weight),
  explain: ({ weight }, parts, component) => parts.blend(component, weight, false),
  needs: (options, _, find) => {
    const needs = find(trajectorySignal(options));
    if (needs === null) return [];
    return needs === 'threads'
      ? [{ needs, part: 'trajectory coordinates', remedy: 'leave trajectory out of blend' }]
      : [{ needs, part: 'trajectory coordinate temporal', remedy: WITHOUT_TEMPORAL }];
  },
  coordinates: (options) => options,
});

const WITHOUT_TEMPORAL = 'set weights.temporal of trajectory: 0';

/**
 * The mechanism of attention, its share of the blend, and the coordinates that TPO compares; null for those of the
 * paper.
 */
interface AttentionBlend {
  readonly attention: AttentionOptions;
  readonly coordinates: TrajectoryOptions | null;
}

/** `(1 - weight) scores / max(scores) + weight attention / max(attention)`. */
export const blendWithAttention = defineScoreStep<AttentionBlend>({
  name: 'blend.attention',
  summary: 'blends scores with ring attention between the query and its candidates',
  component: ({ attention: { mechanism } }) => mechanism,
  signal: ({ attention, coordinates }) => attentionSignal({ attention, trajectory: coordinates }),
  change: ({ attention: { weight } }, scores, column) => blendScores(scores, column, weight),
  changeOnHost:
    ({ attention: { weight } }) =>
    (scores, column, width) =>
      mixOnHost(divideOnHost(scores, width), divideOnHost(column, width), weight),
  explain: ({ attention: { weight } }, parts, component) => parts.blend(component, weight, true),
  needs: ({ attention, coordinates }, _, find) => {
    const needs = find(attentionSignal({ attention, trajectory: coordinates }));
    const part = `attention ${attention.mechanism}`;
    if (needs === null) return [];
    return needs === 'threads'
      ? [{ needs, part, remedy: `leave ${attention.mechanism} out of blend` }]
      : [{ needs, part: `${part} by trajectory coordinate temporal`, remedy: WITHOUT_TEMPORAL }];
  },
});
