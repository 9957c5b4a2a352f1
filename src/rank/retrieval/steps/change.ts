import * as tf from '@tensorflow/tfjs-core';
import type { AttributeValue } from '../../../model/turns/attributes.ts';
import { boostSignal } from '../../signals/boost.ts';
import { computeBoostFactor } from '../../signals/boost-factor.ts';
import type { BoostOptions } from '../../signals/boost-options.ts';
import { curationSignal } from '../../signals/curation.ts';
import type { CurationArmOptions } from '../../signals/curation-options.ts';
import { type DecayOptions, decaySignal } from '../../signals/decay.ts';
import { defineScoreStep } from './step.ts';

/** Scores times 1 + factor x attribute of each boost. */
export const boost = defineScoreStep<BoostOptions>({
  name: 'boost',
  summary: 'multiplies scores by 1 + factor × attribute of each boost, each at least 0',
  signal: boostSignal,
  change: (_, scores, column) => tf.mul(scores, column),
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

/** Scores times what curation by rules leaves of a turn. */
export const curate = defineScoreStep<CurationArmOptions>({
  name: 'curate',
  summary: 'multiplies scores by what curation by rules leaves of a turn',
  component: () => 'curation',
  signal: curationSignal,
  change: (_, scores, column) => tf.mul(scores, column),
  explain: (_, parts, component) => parts.multiply(component),
});

/** Scores halved for each half-life of age. */
export const decay = defineScoreStep<DecayOptions>({
  name: 'decay',
  summary: 'halves scores for every half-life of age',
  signal: decaySignal,
  change: (_, scores, column) => tf.mul(scores, column),
  explain: (_, parts, component) => parts.multiply(component),
  needs: ({ halfLifeHours }, _, find) => {
    const needs = find(decaySignal({ halfLifeHours }));
    if (needs === null) return [];
    const part = `decay with half-life ${halfLifeHours} hours`;
    return [{ needs, part, remedy: 'leave the step decay out' }];
  },
});
