import type { App, Choice } from './app.ts';
import * as app from './app.ts';

/** A new element. Texts become text nodes, so nothing in the data is ever read as HTML. */
export function createNode<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

export function getElement<Type extends HTMLElement = HTMLElement>(id: string): Type {
  const node = document.getElementById(id);
  if (node === null) throw new Error(`page has no element: ${id}`);
  return node as Type;
}

/** True if the page has the element: sections without data are omitted. */
export function has(id: string): boolean {
  return document.getElementById(id) !== null;
}

/**
 * Fills a select with labels and keeps it and the choice the same, whichever changes.
 *
 * @param first the value of the first label; the others count up from it.
 */
export function bindSelect(
  state: App,
  id: string,
  key: 'metric' | 'left' | 'right' | 'across' | 'by',
  labels: readonly string[],
  first = 0,
): void {
  const select = getElement<HTMLSelectElement>(id);
  select.replaceChildren(...labels.map((label, at) => createNode('option', { value: String(at + first) }, label)));
  select.addEventListener('change', () => app.choose(state, { [key]: Number(select.value) } as Partial<Choice>));
  app.watch(state, [key], () => {
    select.value = String(state.choice[key]);
  });
}

/** The value of a colour or length of the style sheet, as it is in the present scheme. */
export function readStyleValue(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function createBadge(kind: string, text: string): HTMLElement {
  return createNode('span', { class: `badge ${kind}` }, text);
}

/** The grade of a turn as a badge; null is unjudged. Short, the lowest grades are numbers only. */
export function createGradeBadge({ data }: App, grade: number | null, form: 'long' | 'short' = 'long'): HTMLElement {
  if (grade === null) return createBadge('unjudged', 'unjudged');
  const name = data.gradeNames[grade] ?? (grade > 0 ? 'grade' : 'not relevant');
  const label = `${name} ${grade}`;
  const node = createBadge(
    `grade-${Math.min(Math.max(grade, 0), 3)}`,
    form === 'short' && grade < 2 ? String(grade) : label,
  );
  node.title = label;
  return node;
}
