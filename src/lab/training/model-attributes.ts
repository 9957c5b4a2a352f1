import type { Dataset } from '../../model/dataset.ts';
import { ATTRIBUTE_SIGNALS, listSignalNames } from '../../rank/signals/bank/options.ts';
import { type AttributeReader, assertAttributesFor } from '../run/needed-attributes.ts';
import type { TrainingConfig } from './training-config.ts';

/** The signals of attributes that a model mixes. */
function listModelReaders({ model, signals }: TrainingConfig): AttributeReader[] {
  if (model.name === 'trajectory') return [];
  return listSignalNames(signals)
    .filter((name) => Object.hasOwn(ATTRIBUTE_SIGNALS, name) && (model.signals?.includes(name) ?? true))
    .map((name) => ({
      part: `signal ${name}`,
      owner: `model ${model.name}`,
      attribute: name,
      remedy: 'list other signals in model.signals',
    }));
}

/** @throws ValidationError for a model that mixes a signal of an attribute which no turn has. */
export function assertModelAttributes(dataset: Dataset, config: TrainingConfig): void {
  assertAttributesFor(dataset, listModelReaders(config));
}
