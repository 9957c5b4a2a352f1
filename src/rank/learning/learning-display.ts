import { attachDisplay, buildTableBundle, joinBundles, phrase, stateShown } from '../../core/display/display.ts';
import { type Parametric, splitParameters } from './parameters.ts';

/** A learned number with its name, as a row of a data frame. */
export interface WeightRow {
  readonly parameter: string;
  /** Which of the parameter's numbers: a signal, a coordinate. */
  readonly label: string;
  readonly handTuned: number;
  readonly value: number;
}

/** The numbers of weights as rows, in the order of the model's parameters. @param values [P] */
export function listWeightRows({
  model,
  values,
}: {
  readonly model: Parametric;
  readonly values: Float64Array;
}): WeightRow[] {
  return [...splitParameters(model, values)].flatMap(([{ name, labels, initial }, part]) =>
    labels.map((label, at) => ({
      parameter: name,
      label,
      handTuned: initial[at] as number,
      value: part[at] as number,
    })),
  );
}

/** The same rows for a notebook. */
function listShownWeights(weights: Parameters<typeof listWeightRows>[0]) {
  return listWeightRows(weights).map(({ parameter, label, ...numbers }) => ({
    ...{ parameter: stateShown(parameter), label: stateShown(label) },
    ...numbers,
  }));
}

/** The part of a training that is shown. */
interface Trained {
  readonly values: Float64Array;
  readonly bestEpoch: number;
  readonly curve: readonly {
    readonly epoch: number;
    readonly loss: number | null;
    readonly validation: number | null;
  }[];
}

/** The part of weights that is shown. */
interface Learned {
  readonly model: Parametric & { readonly name: string };
  readonly values: Float64Array;
  readonly provenance: { readonly trainingClusters: readonly string[] };
}

/** Lets a notebook show the learning curve, and the numbers as text. @returns the same object. */
export function displayTraining<T extends Trained>(result: T, model: Parametric): T {
  return attachDisplay(result, async ({ values, bestEpoch, curve }) => {
    const { buildFigureBundle } = await import('../../model/figures/figure.ts');
    const epochs = curve.map(({ epoch }) => epoch);
    const lines = [
      { name: 'loss', y: curve.map(({ loss }) => loss) },
      { name: 'validation', y: curve.map(({ validation }) => validation) },
    ].filter(({ y }) => y.some((value) => value !== null));
    const data = lines.map((line) => ({ type: 'scatter', mode: 'lines+markers', x: epochs, ...line }));
    const title = `training of ${curve.length - 1} epochs, best epoch ${bestEpoch}`;
    const figure = buildFigureBundle({ data, layout: { title, xaxis: { title: 'epoch' } } });
    const table = buildTableBundle(listShownWeights({ model, values }));
    return { ...figure, 'text/plain': joinBundles([figure, table])['text/plain'] };
  });
}

/** Lets a notebook show weights as a table of their numbers. @returns the same object. */
export function displayWeights<T extends Learned>(weights: T): T {
  return attachDisplay(weights, ({ model, values, provenance }) => {
    const caption = phrase`weights of the ${stateShown(model.name)} model from ${provenance.trainingClusters.length} clusters`;
    return buildTableBundle(listShownWeights({ model, values }), { caption, limit: 200 });
  });
}
