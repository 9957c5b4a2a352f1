import type { Dataset } from '../../model/dataset.ts';
import { type DataPart, type DataReader, findNeed } from '../../rank/retrieval/steps/data-readers.ts';
import { bankSignals } from '../../rank/signals/bank/options.ts';
import { assertDataFor, listLacking } from '../run/needed-data.ts';
import type { TrainingConfig } from './training-config.ts';

/** The signals of a model that read something which the data lacks. */
function listModelReaders(
  model: TrainingConfig['model'],
  config: TrainingConfig,
  lacking: ReadonlySet<DataPart>,
): DataReader[] {
  if (model.name === 'trajectory') {
    const remedy = 'train model linear on other signals';
    if (lacking.has('threads')) return [{ needs: 'threads', part: 'trajectory coordinates', remedy }];
    return lacking.has('clock') ? [{ needs: 'clock', part: 'age in hours and coordinate temporal', remedy }] : [];
  }
  return bankSignals(config.signals)
    .filter(({ name }) => model.signals?.includes(name) ?? true)
    .flatMap((signal) => {
      const needs = findNeed(signal, lacking);
      return needs === null ? [] : [{ needs, part: signal.name, remedy: 'list other signals in model.signals' }];
    });
}

function listSourceReaders({ candidates }: TrainingConfig, lacking: ReadonlySet<DataPart>): DataReader[] {
  if (!lacking.has('order') || !candidates.some(({ index }) => index === 'newest')) return [];
  return [{ needs: 'order', part: 'source newest', remedy: 'use another source than newest' }];
}

/** @throws ValidationError for a model that needs times or threads if the data has none, or has only an order of turns. */
export function assertModelData(dataset: Dataset, config: TrainingConfig): void {
  const lacking = listLacking(dataset.declaration);
  const sources = listSourceReaders(config, lacking);
  const { model } = config;
  const readers = [...sources, ...listModelReaders(model, config, lacking)];
  assertDataFor(dataset, 'model', new Map([[model.name, readers]]));
}
