import { UnavailableError } from '../../core/errors/errors.ts';
import type { Dataset } from '../../model/dataset.ts';

/** @throws UnavailableError always: the data were in the program that ran the config. */
export async function loadMemory(): Promise<Dataset> {
  throw new UnavailableError(
    'dataset memory',
    'its turns were held by the program that ran it; pass them to experiment() again, or name a dataset on disk',
  );
}
