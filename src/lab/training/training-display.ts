import { attachDisplay, joinBundles } from '../../core/display/display.ts';
import { buildTableBundle } from '../../core/display/display-table.ts';
import { phrase, stateShown } from '../../core/display/showable-text.ts';
import { formatEstimates } from '../measure/result-display.ts';
import type { TrainingResult } from './training-result.ts';

/** Lets a notebook show the methods of each model with their figures, then the learned numbers. @returns the same object. */
export function displayFinishedTraining<T extends { readonly result: TrainingResult }>(training: T): T {
  return attachDisplay(training, ({ result }) =>
    joinBundles(
      result.models.flatMap((model) => {
        const methods = model.methods.map(({ name, metrics }) => ({
          method: stateShown(name),
          ...formatEstimates(metrics),
        }));
        const numbers = model.numbers.map(({ parameter, label, interval, ...number }) => ({
          ...{ parameter: stateShown(parameter), label: stateShown(label) },
          ...{ ...number, ...interval },
        }));
        const caption = phrase`${stateShown(result.name)}, model ${stateShown(model.name)}: ${model.measured.queries} queries of ${model.measured.conversations} conversations`;
        return [
          buildTableBundle(methods, { caption }),
          buildTableBundle(numbers, { caption: phrase`learned numbers`, limit: 200 }),
        ];
      }),
    ),
  );
}
