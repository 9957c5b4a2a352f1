import type { ArmPayload } from '../page/payload.ts';
import * as format from '../tables/format.ts';
import type { App, Choice } from './app.ts';
import * as app from './app.ts';
import * as dom from './dom.ts';
import * as plot from './plot.ts';
import * as ranking from './ranking.ts';

/** A ranked turn, and the query in the frame of the turn's conversation. */
export interface Placed {
  readonly turn: number;
  readonly rank: number;
  readonly own: readonly number[];
  readonly query: readonly number[];
}

/** The axes that the page begins with, if it has them: how far apart in time, and how alike. */
const FIRST_AXES = { across: 'temporal', up: 'homogeneity' };

export function start(state: App): void {
  const names = listCoordinates(state);
  const part = dom.getElement('coordinates');
  part.hidden = names.length === 0;
  if (names.length === 0) return;
  const node = dom.getElement('coordinates-figure');
  const selects = (['across', 'up'] as const).map((key, at) => {
    const select = dom.getElement<HTMLSelectElement>(`coordinates-${key}`);
    select.replaceChildren(...names.map((name) => dom.createNode('option', { value: name }, name)));
    select.value = names.includes(FIRST_AXES[key]) ? FIRST_AXES[key] : (names[at] ?? '');
    return select;
  });
  const draw = () => drawCoordinates(state, node, selects.map(({ value }) => value) as [string, string]);
  for (const select of selects) select.addEventListener('change', draw);
  app.watch(state, ['query', 'left', 'right'], draw);
  plot.redrawOnNewLook(draw);
}

/** The coordinates that any arm has. */
export function listCoordinates({ data }: App): string[] {
  return [...new Set(data.arms.flatMap(({ coordinateNames }) => coordinateNames))];
}

export function listPlaced(state: App, arm: number, query: number): Placed[] {
  const { coordinateNames, coordinates } = state.data.arms[arm] as ArmPayload;
  const M = coordinateNames.length;
  const flat = coordinates?.[query] ?? [];
  if (M === 0 || flat.length === 0) return [];
  return [...ranking.indexRanks(state, arm, query)].map(([turn, rank], at) => ({
    turn,
    rank,
    own: flat.slice(2 * at * M, (2 * at + 1) * M),
    query: flat.slice((2 * at + 1) * M, (2 * at + 2) * M),
  }));
}

function drawCoordinates(state: App, node: HTMLElement, axes: readonly [string, string]): void {
  const { query, left, right } = state.choice;
  if (query < 0) return;
  const letters = [
    { letter: 'A', arm: left, symbol: 'circle' },
    { letter: 'B', arm: right, symbol: 'diamond' },
  ] as const;
  const drawn = letters.filter(({ arm }) => hasAxes(state, arm, axes));
  const traces = drawn.flatMap((column) => buildPlacedTraces(state, column, query, axes));
  const layout = {
    xaxis: buildCoordinateAxis(state, drawn, axes[0]),
    yaxis: buildCoordinateAxis(state, drawn, axes[1]),
    hovermode: 'closest',
  };
  const absent = letters.filter(({ arm }) => !hasAxes(state, arm, axes)).map(({ letter }) => letter);
  dom.getElement('coordinates-note').textContent =
    absent.length === 0
      ? ''
      : `${absent.join(' and ')} ${absent.length === 1 ? 'has' : 'have'} no such coordinates on this page.`;
  node.hidden = drawn.length === 0;
  plot.draw(node, traces, 340, layout);
  node.setAttribute('aria-label', `${axes[1]} over ${axes[0]} of the candidates, joined to the query`);
}

/** An axis with round numbers, as wide as the places that are drawn. */
function buildCoordinateAxis(state: App, drawn: readonly { readonly arm: number }[], axis: string): object {
  const places = drawn.flatMap(({ arm }) => {
    const at = state.data.arms[arm]?.coordinateNames.indexOf(axis) ?? -1;
    return listPlaced(state, arm, state.choice.query).flatMap(({ own, query }) => [own[at] ?? 0, query[at] ?? 0]);
  });
  const [low, high] = [Math.min(0, ...places), Math.max(1, ...places)];
  return plot.buildAxis(axis, { ...plot.buildRoundTicks(low, high, format.formatDecimal), zeroline: false });
}

function hasAxes(state: App, arm: number, axes: readonly string[]): boolean {
  const { coordinateNames, coordinates } = state.data.arms[arm] as ArmPayload;
  return coordinates !== null && axes.every((axis) => coordinateNames.includes(axis));
}

/** Thin lines from candidates to the query, the query's places, and candidates labelled by rank. */
export function buildPlacedTraces(
  state: App,
  { letter, arm, symbol }: { readonly letter: 'A' | 'B'; readonly arm: number; readonly symbol: string },
  query: Choice['query'],
  axes: readonly [string, string],
): object[] {
  const { coordinateNames } = state.data.arms[arm] as ArmPayload;
  const [x, y] = axes.map((axis) => coordinateNames.indexOf(axis)) as [number, number];
  const grades = ranking.indexGrades(state, query);
  const placed = listPlaced(state, arm, query);
  const color = dom.readStyleValue(`--${letter}`);
  const [ink, grade, paper] = ['--ink', '--grade', '--paper'].map(dom.readStyleValue);
  const isRelevant = (turn: number) => (grades.get(turn) ?? 0) >= state.data.relevantGrade;
  const describe = ({ turn, rank }: Placed) =>
    `${letter} ${rank}  ${plot.escapePlotlyText(state.data.turns.text[turn]?.slice(0, 60) ?? '')}`;
  return [
    {
      type: 'scatter',
      mode: 'lines',
      x: placed.flatMap(({ own, query: asked }) => [own[x], asked[x], null]),
      y: placed.flatMap(({ own, query: asked }) => [own[y], asked[y], null]),
      line: { color: dom.readStyleValue('--faint'), width: 1 },
      hoverinfo: 'skip',
    },
    {
      type: 'scatter',
      mode: 'markers',
      x: placed.map(({ query: asked }) => asked[x]),
      y: placed.map(({ query: asked }) => asked[y]),
      marker: { symbol: 'square', size: 9, color: ink },
      text: placed.map((one) => `query, seen from ${describe(one)}`),
      hovertemplate: '%{text}<extra></extra>',
    },
    {
      type: 'scatter',
      mode: 'markers+text',
      x: placed.map(({ own }) => own[x]),
      y: placed.map(({ own }) => own[y]),
      marker: {
        symbol,
        size: 10,
        color: placed.map(({ turn }) => (isRelevant(turn) ? grade : paper)),
        line: { width: 1.5, color },
      },
      text: placed.map(({ rank }) => String(rank)),
      textposition: letter === 'A' ? 'top left' : 'top right',
      textfont: { size: 11, color },
      customdata: placed.map(describe),
      hovertemplate: '%{customdata}<extra></extra>',
    },
  ];
}
