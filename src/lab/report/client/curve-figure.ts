import type { CurvePayload } from '../page/payload.ts';
import * as format from '../tables/format.ts';
import * as dom from './dom.ts';
import * as plot from './plot.ts';

/** One kind of value over the epochs: a thin line per fold, a thick one for the training on all conversations. */
export function drawCurves(node: HTMLElement, curves: readonly CurvePayload[], kind: 'loss' | 'validation'): void {
  const values = curves.flatMap((curve) => [...curve[kind]].filter((value): value is number => value !== null));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const epochs = Math.max(...curves.map((curve) => curve[kind].length)) - 1;
  const layout = {
    xaxis: plot.buildAxis('epoch', { ...plot.buildWholeTicks(epochs), rangemode: 'tozero', zeroline: false }),
    yaxis: plot.buildAxis('', { ...plot.buildRoundTicks(low, high, format.formatDecimal), zeroline: false }),
    hovermode: 'closest',
  };
  plot.draw(node, buildCurveTraces(curves, kind), 300, layout);
}

export function buildCurveTraces(curves: readonly CurvePayload[], kind: 'loss' | 'validation'): object[] {
  return curves.map((curve, at) => {
    const isWhole = at === curves.length - 1;
    const color = dom.readStyleValue(isWhole ? '--better' : '--undecided');
    const text = curve[kind].map(
      (value, epoch) => `${curve.name}, epoch ${epoch}: ${value === null ? '' : format.formatDecimal(value, 3)}`,
    );
    return {
      type: 'scatter',
      mode: curve[kind].length < 3 ? 'lines+markers' : 'lines',
      x: curve[kind].map((_, epoch) => epoch),
      y: curve[kind],
      text,
      hovertemplate: '%{text}<extra></extra>',
      opacity: isWhole ? 1 : 0.55,
      line: { color, width: isWhole ? 3 : 1 },
    };
  });
}
