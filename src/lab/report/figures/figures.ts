import { ValidationError } from '../../../core/errors/errors.ts';
import { suggestKnown } from '../../../core/validation/validation.ts';
import { freezeDeeply } from '../../../core/values/once.ts';
import { parseMean } from '../../../eval/metrics/metric.ts';
import { type PlotlyFigure, showFigure } from '../../../model/figures/figure.ts';
import type { ArmResult, ExperimentResult } from '../../measure/result.ts';
import { orderLadderArms } from '../tables/table.ts';

/** What a figure shows. */
export interface FigureOptions {
  /** By default the first of the result. */
  readonly metric?: string;
  /** By default the arm after the baseline in the table; of `queries` alone. */
  readonly arm?: string;
}

type Draw = (result: ExperimentResult, metric: string, arm: string | undefined) => PlotlyFigure;

/** One estimate a row, the first arm on top. */
function drawRows(
  rows: readonly {
    readonly name: string;
    readonly mean: number;
    readonly low: number | null;
    readonly high: number | null;
  }[],
  title: string,
  rule: number | null,
): PlotlyFigure {
  const reach = (end: 'low' | 'high') => rows.map((row) => Math.abs((row[end] ?? row.mean) - row.mean));
  return {
    data: [
      {
        type: 'scatter',
        mode: 'markers',
        x: rows.map(({ mean }) => mean),
        y: rows.map(({ name }) => name),
        error_x: { type: 'data', symmetric: false, array: reach('high'), arrayminus: reach('low') },
      },
    ],
    layout: {
      xaxis: { title: { text: title } },
      yaxis: { autorange: 'reversed', automargin: true },
      showlegend: false,
      shapes:
        rule === null ? [] : [{ type: 'line', x0: rule, x1: rule, yref: 'paper', y0: 0, y1: 1, line: { dash: 'dot' } }],
    },
  };
}

/** Each arm minus the baseline, with its interval. */
const drawDifferences: Draw = (result, metric) => {
  const compared = orderLadderArms(result.arms).flatMap((arm) => {
    const found = arm.comparisons?.[metric];
    return found === undefined ? [] : [{ name: arm.name, ...found.difference }];
  });
  return drawRows(compared, `${metric}, difference from ${result.baseline}`, 0);
};

/** The mean of each arm, with its interval. */
const drawMeans: Draw = (result, metric) => {
  const arms = orderLadderArms(result.arms);
  const rows = arms.map(({ name, metrics }) => ({ name, ...(metrics[metric] as ArmResult['metrics'][string]) }));
  const baseline = rows.find(({ name }) => name === result.baseline);
  return drawRows(rows, metric, baseline?.mean ?? null);
};

function findArm({ arms }: ExperimentResult, name: string): ArmResult {
  const arm = arms.find((one) => one.name === name);
  if (arm !== undefined) return arm;
  const known = arms.map((one) => one.name);
  throw new ValidationError(`result has no arm: ${name}; use ${suggestKnown(name, known)}`, { name, known });
}

/** The difference of an arm from the baseline for each query, the greatest gain first. */
const drawQueries: Draw = (result, metric, name = result.arms.find((arm) => arm.comparisons !== null)?.name) => {
  const values = findArm(result, name ?? result.baseline).perQuery[metric] as readonly number[];
  const before = findArm(result, result.baseline).perQuery[metric] as readonly number[];
  const bars = result.queries
    .map(({ id, text }, q) => ({ id, text, gain: (values[q] as number) - (before[q] as number) }))
    .sort((a, b) => b.gain - a.gain);
  return {
    data: [
      { type: 'bar', x: bars.map(({ id }) => id), y: bars.map(({ gain }) => gain), text: bars.map(({ text }) => text) },
    ],
    layout: {
      xaxis: { title: { text: 'queries, greatest gain first' }, showticklabels: false },
      yaxis: { title: { text: `${metric}: ${name} minus ${result.baseline}` } },
      showlegend: false,
    },
  };
};

const FIGURES = { differences: drawDifferences, means: drawMeans, queries: drawQueries } as const;

/** The name of a figure: `differences` from the baseline and `means`, each with intervals, or `queries`, the paired differences of one arm. */
export type FigureName = keyof typeof FIGURES;
export type { PlotlyFigure };
/** The names of the figures that {@link drawFigure} draws. */
export const FIGURE_NAMES = freezeDeeply(Object.keys(FIGURES) as FigureName[]);

/**
 * A metric of a result by any name that {@link parseMean} accepts; by default the first.
 *
 * @throws ValidationError for an unknown metric, and for one that the result lacks.
 */
export function chooseMetric({ metrics: known }: ExperimentResult, written?: string): string {
  if (written === undefined) return known[0] as string;
  const metric = known.includes(written) ? written : parseMean(written).id;
  if (!known.includes(metric))
    throw new ValidationError(
      `result has no metric: ${written}; use ${suggestKnown(metric, known)}, or add it to metrics and run again`,
      { metric, known },
    );
  return metric;
}

/**
 * A figure of a result as Plotly JSON, which a notebook shows: the `differences` of all arms from the baseline, their `means`, or the difference of one arm for each of the `queries`.
 *
 * @throws ValidationError for an unknown figure, metric or arm, and for differences from a baseline that failed.
 */
export function drawFigure(result: ExperimentResult, name: FigureName, options: FigureOptions = {}): PlotlyFigure {
  if (!FIGURE_NAMES.includes(name))
    throw new ValidationError(`result has no figure: ${name}; use ${suggestKnown(name, FIGURE_NAMES)}`, { name });
  const { data, layout } = FIGURES[name](result, chooseMetric(result, options.metric), options.arm);
  return showFigure(data, layout);
}
