import type { ArmPayload } from '../page/payload.ts';
import * as format from '../tables/format.ts';
import type { App } from './app.ts';
import * as app from './app.ts';
import * as dom from './dom.ts';
import * as plot from './plot.ts';

export function start(state: App): void {
  const node = dom.byId('arms-figure');
  app.watch(state, ['metric', 'filter'], () => drawArms(state, node));
  plot.onNewLook(() => drawArms(state, node));
}

/** A dot with whiskers an arm, in the order of the ladder from above. */
function drawArms(state: App, node: HTMLElement): void {
  const { arms, baseline, metrics } = state.data;
  const { metric } = state.choice;
  const narrow = plot.isNarrow();
  const drawn = app.drawnArms(state, 60);
  const bounds = [...drawn, baseline].flatMap(
    (arm) => arms[arm]?.intervals[metric]?.filter((end) => end !== null) ?? [],
  );
  const [low, high] = [Math.min(...bounds), Math.max(...bounds)];
  const layout = {
    xaxis: plot.axis(metrics[metric] ?? '', plot.ticks(low, high, format.decimal)),
    ...plot.rowAxis(armNames(state, drawn)),
    hovermode: 'closest',
    shapes: baseline < 0 ? [] : [plot.verticalRule(arms[baseline]?.intervals[metric]?.[0] ?? 0)],
  };
  const traces = drawn.map((arm, at) => armTrace(arms[arm] as ArmPayload, at, metric, arm === baseline));
  plot.draw(node, traces, (narrow ? 40 : 27) * drawn.length + 64, layout);
  const label = `${metrics[metric]} of every arm with its interval; the same numbers are in the table`;
  node.setAttribute('aria-label', label);
  dom.byId('arms-count').textContent = app.drawnNote(state, drawn);
}

/** Names of arms, the baseline's in bold. */
export function armNames({ data: { arms, baseline } }: App, drawn: readonly number[]): string[] {
  return drawn.map((arm) => {
    const name = plot.rowName(arms[arm]?.name ?? '');
    return arm === baseline ? `<b>${name}</b>` : name;
  });
}

export function armTrace(arm: ArmPayload, at: number, metric: number, isBaseline: boolean): object {
  const [mean = 0, low = null, high = null] = arm.intervals[metric] ?? [];
  const verdict = arm.verdicts[metric] ?? 'undecided';
  const color = dom.styleValue(isBaseline ? '--ink' : `--${verdict}`);
  const symbol = isBaseline
    ? 'diamond'
    : { better: 'triangle-up', worse: 'triangle-down', undecided: 'circle' }[verdict];
  const figures = format.estimate({ mean, low, high }, format.decimal, 3);
  return {
    type: 'scatter',
    mode: 'markers',
    x: [mean],
    y: [at],
    error_x: { ...plot.whiskers(mean, low, high), color, thickness: 1.5, width: 0 },
    marker: { color, symbol, size: 9 },
    text: [`${plot.plainText(arm.name)}<br>${figures}`],
    hovertemplate: '%{text}<extra></extra>',
  };
}
