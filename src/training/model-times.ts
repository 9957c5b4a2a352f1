import { assertTimesFor } from '../experiment/run/needed-times.ts';
import type { Dataset } from '../model/dataset.ts';
import type { ClockReader } from '../retrieval/clock-readers.ts';
import { bankSignals } from '../signals/bank/options.ts';
import type { TrainingConfig } from './training-config.ts';

/** The signals of a model that read hours or dates. */
function listModelReaders(model: TrainingConfig['models'][number], config: TrainingConfig): ClockReader[] {
  if (model.name === 'trajectory')
    return [{ part: 'age in hours and coordinate temporal', remedy: 'train model linear on other signals' }];
  return bankSignals(config.signals)
    .filter(({ name, reads }) => reads.includes('clock') && (model.signals?.includes(name) ?? true))
    .map(({ name }) => ({ part: name, remedy: 'list other signals in models.signals' }));
}

/** @throws ValidationError for a model that needs times if the data has only an order of turns. */
export function assertModelTimes(dataset: Dataset, config: TrainingConfig): void {
  const readers = config.models.map((model) => [model.name, listModelReaders(model, config)] as const);
  assertTimesFor(dataset, 'model', new Map(readers));
}
