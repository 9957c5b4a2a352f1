import type { BinPayload } from '../page/payload.ts';
import * as format from '../tables/format.ts';
import * as dom from './dom.ts';
import * as plot from './plot.ts';

/** Reliability above, and how many candidates are in each bin below, on a logarithmic axis: most of them are in the first. */
export function drawCalibration(node: HTMLElement, bins: readonly BinPayload[]): void {
  const shares = plot.buildRoundTicks(0, 1, format.formatDecimal);
  const most = Math.max(...bins.map(({ count }) => count));
  const layout = {
    xaxis: plot.buildAxis('probability by the model', {
      ...shares,
      range: [-0.02, 1.02],
      anchor: 'y2',
      zeroline: false,
    }),
    yaxis: plot.buildAxis('share relevant', { ...shares, range: [-0.03, 1.06], domain: [0.36, 1], zeroline: false }),
    yaxis2: plot.buildAxis('candidates', {
      type: 'log',
      range: [-0.2, Math.log10(most) + 0.5],
      dtick: Math.max(1, Math.ceil(Math.log10(most) / 3)),
      exponentformat: 'none',
      separatethousands: true,
      domain: [0, 0.26],
      zeroline: false,
    }),
    hovermode: 'closest',
    bargap: 0.1,
    shapes: [buildDiagonal()],
  };
  plot.draw(node, buildCalibrationTraces(bins), plot.isNarrow() ? 420 : 480, layout);
}

function buildDiagonal(): object {
  const line = { color: dom.readStyleValue('--ink'), width: 1, dash: 'dot' };
  return { type: 'line', x0: 0, x1: 1, y0: 0, y1: 1, yref: 'y', layer: 'below', line };
}

export function buildCalibrationTraces(bins: readonly BinPayload[]): object[] {
  const color = dom.readStyleValue('--better');
  const counted = bins.map((bin) => ({ ...bin, counts: `${bin.count.toLocaleString('en')} candidates` }));
  const filled = counted.filter(({ count }) => count > 0);
  const formatBinRange = ({ low, high }: BinPayload) =>
    `from ${format.formatDecimal(low, 2)} to ${format.formatDecimal(high, 2)}`;
  return [
    {
      type: 'scatter',
      mode: 'lines+markers',
      x: filled.map(({ predicted }) => predicted),
      y: filled.map(({ observed }) => observed),
      text: filled.map(
        (bin) =>
          `${formatBinRange(bin)}: ${bin.counts}<br>predicted ${format.formatDecimal(bin.predicted ?? 0, 3)}, observed ${format.formatDecimal(bin.observed ?? 0, 3)}`,
      ),
      hovertemplate: '%{text}<extra></extra>',
      line: { color, width: 1.5 },
      marker: { color, size: 9 },
    },
    {
      type: 'bar',
      yaxis: 'y2',
      x: filled.map(({ low, high }) => (low + high) / 2),
      y: filled.map(({ count }) => count),
      width: filled.map(({ low, high }) => 0.9 * (high - low)),
      text: filled.map((bin) => `${formatBinRange(bin)}: ${bin.counts}`),
      textposition: 'none',
      hovertemplate: '%{text}<extra></extra>',
      marker: { color: dom.readStyleValue('--faint') },
    },
  ];
}
