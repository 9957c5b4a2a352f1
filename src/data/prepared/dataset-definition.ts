import type { StartProgress } from '../../core/terminal/progress.ts';
import type { Definition, NamingOptions } from '../../core/validation/registry.ts';
import type { Dataset } from '../../model/dataset.ts';

/** What a loader may use besides its options. */
export interface DatasetContext {
  /** Where prepared data is kept between runs; null keeps none. */
  readonly cacheFolder: string | null;
  readonly progress?: StartProgress;
}

/** A dataset that is not loaded yet. */
export interface DatasetDefinition<S extends NamingOptions<'name'> = NamingOptions<'name'>>
  extends Definition<'name', S> {
  readonly licence: string;
  /** Where a user gets it. */
  readonly source: string;
}

/** The loader of a dataset. */
export type LoadDataset<Options> = (options: Options, context: DatasetContext) => Promise<Dataset>;
