import { RING_ATTENTION_DEFAULTS, type RingAttentionOptions } from './options.ts';

/** Every combination of the four choices, the paper's decay and temperature, by name. */
export const COMBINATIONS: readonly (readonly [string, RingAttentionOptions])[] = (['ring', 'line'] as const).flatMap(
  (topology) =>
    (['none', 'causal', 'anticausal'] as const).flatMap((direction) =>
      (['multiplicative', 'additive'] as const).flatMap((combine) =>
        (['include', 'exclude'] as const).map(
          (self) =>
            [
              `${topology}, ${direction}, ${combine}, self ${self}`,
              { ...RING_ATTENTION_DEFAULTS, topology, direction, combine, self },
            ] as const,
        ),
      ),
    ),
);
