import type { App } from './app.ts';
import * as app from './app.ts';
import * as dom from './dom.ts';

/** A box of words: rows and figures keep the arms whose names hold them all. */
export function start(state: App): void {
  const input = dom.getElement<HTMLInputElement>('arm-filter');
  input.closest<HTMLElement>('.filter')?.removeAttribute('hidden');
  input.addEventListener('input', () => app.choose(state, { filter: input.value.trim().toLowerCase() }));
  app.watch(state, ['filter'], () => {
    if (input.value.trim().toLowerCase() !== state.choice.filter) input.value = state.choice.filter;
    filterRows(state);
  });
}

function filterRows(state: App): void {
  for (const row of document.querySelectorAll<HTMLElement>('tr[data-arm]'))
    row.hidden = !app.isShown(state, row.dataset.arm ?? '');
  const [shown, all] = [app.listShownArms(state).length, state.data.arms.length];
  dom.getElement('arm-count').textContent = shown === all ? `${all}` : `${shown} of ${all}`;
}
