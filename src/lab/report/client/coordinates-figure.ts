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
  if (!dom.has('coordinates')) return;
  const names = listCoordinates(state);
  const node = dom.getElement('coordinates-figure');
  for (const [key, side] of [
    ['horizontal', 'across'],
    ['vertical', 'up'],
  ] as const) {
    const select = dom.getElement<HTMLSelectElement>(`coordinates-${side}`);
    select.replaceChildren(...names.map((name) => dom.createNode('option', { value: name }, name)));
    select.addEventListener('change', () => app.choose(state, { [key]: select.value } as Partial<Choice>));
    app.watch(state, [key], () => {
      select.value = readAxes(state)[side];
    });
  }
  const draw = () => drawCoordinates(state, node);
  app.watch(state, ['query', 'left', 'right', 'horizontal', 'vertical'], draw);
  plot.redrawOnNewLook(draw);
}

/** The chosen axes, else those that the page begins with. */
export function readAxes(state: App): Readonly<Record<'across' | 'up', string>> {
  const names = listCoordinates(state);
  const choose = (chosen: string, first: string, at: number) =>
    chosen || (names.includes(first) ? first : (names[at] ?? ''));
  const { horizontal, vertical } = state.choice;
  return { across: choose(horizontal, FIRST_AXES.across, 0), up: choose(vertical, FIRST_AXES.up, 1) };
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

function drawCoordinates(state: App, node: HTMLElement): void {
  const { query, left, right } = state.choice;
  if (query < 0) return;
  const { across, up } = readAxes(state);
  const letters = [
    { letter: 'A', arm: left, symbol: 'circle' },
    { letter: 'B', arm: right, symbol: 'diamond' },
  ] as const;
  const drawn = letters.filter(({ arm }) => hasAxes(state, arm, [across, up]));
  const axes = [across, up].map((name) => ({ name, range: findRange(state, drawn, name) })) as [Axis, Axis];
  const layout = {
    xaxis: buildCoordinateAxis(axes[0]),
    yaxis: buildCoordinateAxis(axes[1]),
    hovermode: 'closest',
  };
  const absent = letters.filter((column) => !drawn.includes(column)).map(({ letter }) => letter);
  dom.getElement('coordinates-note').textContent = describeAbsence(state, absent, [across, up]);
  node.hidden = drawn.length === 0;
  const traces = drawn.flatMap((column) => buildPlacedTraces(state, column, query, axes));
  plot.draw(node, traces, 340, layout);
  node.setAttribute('aria-label', `${up} over ${across} of the candidates, joined to the query`);
}

/** Names arms that have what A or B lacks. */
function describeAbsence(state: App, absent: readonly string[], axes: readonly string[]): string {
  if (absent.length === 0) return '';
  const having = state.data.arms.flatMap(({ name }, arm) => (hasAxes(state, arm, axes) ? [name] : []));
  const some = `${having.slice(0, 4).join('; ')}${having.length > 4 ? `; and ${having.length - 4} more` : ''}`;
  return `${absent.join(' and ')} ${absent.length === 1 ? 'has' : 'have'} no such coordinates on this page. Arms that have them: ${some}.`;
}

/** An axis, and from where to where its places lie. */
interface Axis {
  readonly name: string;
  readonly range: readonly [low: number, high: number];
}

function findRange(state: App, drawn: readonly { readonly arm: number }[], name: string): Axis['range'] {
  const places = drawn.flatMap(({ arm }) => {
    const at = state.data.arms[arm]?.coordinateNames.indexOf(name) ?? -1;
    return listPlaced(state, arm, state.choice.query).flatMap(({ own, query }) => [own[at] ?? 0, query[at] ?? 0]);
  });
  return [Math.min(0, ...places), Math.max(1, ...places)];
}

/** Round numbers, with room for labels beyond the outermost places. */
function buildCoordinateAxis({ name, range: [low, high] }: Axis): object {
  const room = 0.1 * (high - low);
  return plot.buildAxis(name, {
    ...plot.buildRoundTicks(low, high, format.formatDecimal),
    range: [low - room, high + room],
    zeroline: false,
  });
}

/** Ranks of candidates whose marks lie on each other. */
export interface SharedLabel {
  readonly x: number;
  readonly y: number;
  readonly ranks: number[];
}

/** Shares of the axes within which marks overlap. */
const NEAR = [0.02, 0.05] as const;

/** A label for each place: the one of the first candidate there, with the ranks of all that lie on it. */
export function shareLabels(
  places: readonly { readonly x: number; readonly y: number; readonly rank: number }[],
  [across, up]: readonly [Axis, Axis],
): SharedLabel[] {
  const labels: SharedLabel[] = [];
  const isNear = (a: number, b: number, { range: [low, high] }: Axis, share: number) =>
    Math.abs(a - b) <= share * (high - low);
  for (const { x, y, rank } of places) {
    const found = labels.find((label) => isNear(label.x, x, across, NEAR[0]) && isNear(label.y, y, up, NEAR[1]));
    if (found === undefined) labels.push({ x, y, ranks: [rank] });
    else found.ranks.push(rank);
  }
  return labels;
}

/** `1–3, 5` */
export function formatRanks(ranks: readonly number[]): string {
  const runs: [first: number, last: number][] = [];
  for (const rank of ranks) {
    const run = runs.at(-1);
    if (run?.[1] === rank - 1) run[1] = rank;
    else runs.push([rank, rank]);
  }
  return runs.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`)).join(', ');
}

function hasAxes(state: App, arm: number, axes: readonly string[]): boolean {
  const { coordinateNames, coordinates } = state.data.arms[arm] as ArmPayload;
  return coordinates !== null && axes.every((axis) => coordinateNames.includes(axis));
}

/** Thin lines from candidates to the query, the query's places, and candidates with their ranks: A above, B below. */
export function buildPlacedTraces(
  state: App,
  { letter, arm, symbol }: { readonly letter: 'A' | 'B'; readonly arm: number; readonly symbol: string },
  query: Choice['query'],
  axes: readonly [Axis, Axis],
): object[] {
  const { coordinateNames } = state.data.arms[arm] as ArmPayload;
  const [x, y] = axes.map(({ name }) => coordinateNames.indexOf(name)) as [number, number];
  const grades = ranking.indexGrades(state, query);
  const placed = listPlaced(state, arm, query);
  const color = dom.readStyleValue(`--${letter}`);
  const [ink, grade, paper] = ['--ink', '--grade', '--paper'].map(dom.readStyleValue);
  const isRelevant = (turn: number) => (grades.get(turn) ?? 0) >= state.data.relevantGrade;
  const describe = ({ turn, rank }: Placed) =>
    `${letter} ${rank}  ${plot.escapePlotlyText(state.data.turns.text[turn]?.slice(0, 60) ?? '')}`;
  const [low, high] = axes[0].range;
  const isLeft = (place: number) => place < (low + high) / 2;
  const labels = shareLabels(
    placed.map(({ own, rank }) => ({ x: own[x] ?? 0, y: own[y] ?? 0, rank })),
    axes,
  );
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
      mode: 'markers',
      x: placed.map(({ own }) => own[x]),
      y: placed.map(({ own }) => own[y]),
      marker: {
        symbol,
        size: 10,
        color: placed.map(({ turn }) => (isRelevant(turn) ? grade : paper)),
        line: { width: 1.5, color },
      },
      text: placed.map(describe),
      hovertemplate: '%{text}<extra></extra>',
    },
    {
      type: 'scatter',
      mode: 'markers+text',
      x: labels.map((label) => label.x),
      y: labels.map((label) => label.y),
      text: labels.map(({ ranks }) => formatRanks(ranks)),
      textposition: labels.map((label) => `${letter === 'A' ? 'top' : 'bottom'} ${isLeft(label.x) ? 'right' : 'left'}`),
      marker: { size: 11, opacity: 0 }, // keeps the text off the mark
      textfont: { size: 11, color },
      cliponaxis: false,
      hoverinfo: 'skip',
    },
  ];
}
