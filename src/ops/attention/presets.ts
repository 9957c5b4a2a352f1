import { freezeDeeply } from '../../core/values/frozen.ts';
import { type PropagationOptions, propagationOptions } from './options.ts';

/**
 * Named settings of propagation. `published` has the paper's: a turn is its own loudest key (logit 10 against about 4 for its neighbours), so it comes out as it
 * went in. `framework` excludes the turn itself and gives far turns less weight.
 */
export const PROPAGATION_PRESETS = freezeDeeply({
  published: propagationOptions.parse({
    combine: 'multiplicative',
    self: 'include',
    temperature: 0.1,
    decay: 0.5,
    beta: 0.3,
  }),
  framework: propagationOptions.parse({ combine: 'additive', self: 'exclude', temperature: 1, decay: 1, beta: 0.5 }),
} as const satisfies Record<string, PropagationOptions>);
