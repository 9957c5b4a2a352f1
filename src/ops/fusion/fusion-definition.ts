import type { z } from 'zod';
import type { Definition, NamingOptions } from '../../core/validation/registry.ts';
import type { ScoreColumns } from './score-columns.ts';

/** The fused scores [C] of the C candidates of one query, from the columns of S sources. */
export type Fuse<Options> = (columns: ScoreColumns, options: Options) => Float64Array;

/** A way of fusing scores, with its function: fusions are light, so nothing is loaded later. */
export interface FusionDefinition<S extends NamingOptions<'method'> = NamingOptions<'method'>>
  extends Definition<'method', S> {
  readonly fuse: Fuse<z.output<S>>;
  /** True if an arm gives it the scores of its whole pool; false by default: the lists of its signals. */
  readonly fusesPool?: boolean;
}
