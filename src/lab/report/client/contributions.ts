import type { ArmPayload } from '../page/payload.ts';
import * as format from '../tables/format.ts';
import type { App } from './app.ts';
import * as dom from './dom.ts';

/** A part of a score and its position in the bar, in shares of the bar's width. */
interface Segment {
  readonly name: string;
  readonly value: number;
  readonly start: number;
  readonly width: number;
}

/** The bars of a ranking on one scale: [ranks, P] parts, and the sums that reach furthest below and above 0. */
export interface Stacks {
  readonly names: readonly string[];
  readonly parts: readonly (readonly number[])[];
  readonly low: number;
  readonly high: number;
}

const add = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

/** Null where the page has no parts of the arm. */
export function buildStacks({ contributionNames: names, contributions }: ArmPayload, query: number): Stacks | null {
  const flat = contributions?.[query] ?? [];
  if (names.length === 0 || flat.length === 0) return null;
  const ranks = flat.length / names.length;
  const parts = Array.from({ length: ranks }, (_, at) => flat.slice(at * names.length, (at + 1) * names.length));
  const low = Math.min(0, ...parts.map((row) => add(row.filter((value) => value < 0))));
  const high = Math.max(0, ...parts.map((row) => add(row.filter((value) => value > 0))));
  return { names, parts, low, high };
}

/** The parts of a rank: positive ones to the right of 0, negative ones to the left, each in the order of the names. */
export function layOutSegments({ names, parts, low, high }: Stacks, rank: number): Segment[] {
  const span = high - low || 1;
  let [left, right] = [0, 0];
  return (parts[rank] ?? []).flatMap((value, part) => {
    if (value === 0) return [];
    const start = value < 0 ? left + value : right;
    if (value < 0) left += value;
    else right += value;
    return [{ name: names[part] ?? '', value, start: (start - low) / span, width: Math.abs(value) / span }];
  });
}

/** The colour of a part: the same in both columns. */
function readPartColour(state: App, name: string): string {
  const names = [...new Set(state.data.arms.flatMap(({ contributionNames }) => contributionNames))];
  return /^\d+ others$/.test(name) ? 'var(--undecided)' : `var(--series-${names.indexOf(name) % 8})`;
}

/** Names and colours of the parts, above the candidates. */
export function renderPartLegend(state: App, { names }: Stacks, selects: boolean): HTMLElement {
  const items = names.map((name) => {
    const swatch = dom.createNode('span', { class: 'swatch' });
    swatch.style.background = readPartColour(state, name);
    return dom.createNode('li', {}, swatch, name);
  });
  const sum = selects ? 'add up to the score before selection' : 'add up to the score';
  return dom.createNode('ul', { class: 'parts' }, ...items, dom.createNode('li', { class: 'quiet' }, sum));
}

export function renderStack(state: App, stacks: Stacks, rank: number): HTMLElement {
  const segments = layOutSegments(stacks, rank);
  const words = segments.map(({ name, value }) => `${name} ${format.formatSignificant(value)}`);
  const total = format.formatSignificant(add(stacks.parts[rank] ?? []));
  const bar = dom.createNode('div', { class: 'stack', role: 'img', 'aria-label': `${words.join(', ')}; sum ${total}` });
  for (const { name, value, start, width } of segments) {
    const segment = dom.createNode('span', { title: `${name} ${format.formatSignificant(value)}` });
    segment.style.cssText = `left: ${100 * start}%; width: ${100 * width}%; background: ${readPartColour(state, name)}`;
    bar.append(segment);
  }
  if (stacks.low < 0) {
    const zero = dom.createNode('i', {});
    zero.style.left = `${(100 * -stacks.low) / (stacks.high - stacks.low || 1)}%`;
    bar.append(zero);
  }
  return bar;
}
