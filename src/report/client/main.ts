import type { Payload } from '../payload.ts';
import type * as appModule from './app.ts';
import type * as armsModule from './arms-figure.ts';
import type * as domModule from './dom.ts';
import type * as gainsModule from './gains-figure.ts';
import type * as inspectorModule from './inspector.ts';
import type * as tablesModule from './tables.ts';

declare const app: typeof appModule;
declare const armsFigure: typeof armsModule;
declare const dom: typeof domModule;
declare const gainsFigure: typeof gainsModule;
declare const inspector: typeof inspectorModule;
declare const tables: typeof tablesModule;

/** Brings the page to life; what it shows without a script stands in it already. */
export function run(): void {
  for (const table of document.querySelectorAll<HTMLTableElement>('table.sortable')) tables.sortable(table);
  const data = JSON.parse(dom.byId('data').textContent ?? '') as Payload;
  const state = app.createApp(data);
  const names = data.arms.map((arm) => arm.name);
  for (const id of ['arms-metric', 'gains-metric', 'inspector-metric'])
    dom.bindSelect(state, id, 'metric', data.metrics);
  for (const id of ['gains-arm', 'inspector-right']) dom.bindSelect(state, id, 'right', names);
  dom.bindSelect(state, 'inspector-left', 'left', names);
  armsFigure.start(state);
  gainsFigure.start(state);
  inspector.start(state);
}
