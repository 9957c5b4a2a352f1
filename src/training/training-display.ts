import { attachDisplay, joinBundles } from '../core/display.ts';
import { buildTableBundle, type DisplayRow } from '../core/display-table.ts';
import { formatEstimates } from '../experiment/measure/result-display.ts';
import type { TrainingResult } from './training-result.ts';

/** Lets a notebook show the methods of each model with their figures, then the learned numbers. @returns the same object. */
export function displayFinishedTraining<T extends { readonly result: TrainingResult }>(training: T): T {
  return attachDisplay(training, ({ result }) =>
    joinBundles(
      result.models.flatMap((model) => {
        const methods = model.methods.map(({ name, metrics }) => ({ method: name, ...formatEstimates(metrics) }));
        const numbers = model.numbers.map(({ interval, ...number }) => ({ ...number, ...interval }) as DisplayRow);
        const caption = `${result.name}, model ${model.name}: ${model.measured.queries} queries of ${model.measured.conversations} conversations`;
        return [
          buildTableBundle(methods, { caption }),
          buildTableBundle(numbers, { caption: 'learned numbers', limit: 200 }),
        ];
      }),
    ),
  );
}
