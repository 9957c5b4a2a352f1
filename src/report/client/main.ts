import type { Payload } from '../page/payload.ts';
import type * as appModule from './app.ts';
import type { App } from './app.ts';
import type * as armFilterModule from './arm-filter.ts';
import type * as armsModule from './arms-figure.ts';
import type * as attributionModule from './attribution-figure.ts';
import type * as domModule from './dom.ts';
import type * as gainsModule from './gains-figure.ts';
import type * as heatMapModule from './heat-map.ts';
import type * as inspectorModule from './inspector.ts';
import type * as interactionModule from './interaction-plot.ts';
import type * as latencyModule from './latency-figure.ts';
import type * as parallelModule from './parallel-coordinates.ts';
import type * as strataModule from './strata-figure.ts';
import type * as sweepModule from './sweep.ts';
import type * as tablesModule from './tables.ts';

declare const app: typeof appModule;
declare const armFilter: typeof armFilterModule;
declare const armsFigure: typeof armsModule;
declare const attributionFigure: typeof attributionModule;
declare const dom: typeof domModule;
declare const gainsFigure: typeof gainsModule;
declare const heatMap: typeof heatMapModule;
declare const inspector: typeof inspectorModule;
declare const interactionPlot: typeof interactionModule;
declare const latencyFigure: typeof latencyModule;
declare const parallelCoordinates: typeof parallelModule;
declare const strataFigure: typeof strataModule;
declare const sweep: typeof sweepModule;
declare const tables: typeof tablesModule;

/** Adds interaction to the page; the page contains its content without a script. */
export function run(): void {
  tables.allSortable();
  const data = JSON.parse(dom.byId('data').textContent ?? '') as Payload;
  const state = app.createApp(data);
  bindChoices(state);
  for (const part of [armFilter, armsFigure, inspector]) part.start(state);
  if (dom.has('gains')) gainsFigure.start(state);
  if (dom.has('sweep')) for (const part of [sweep, heatMap, interactionPlot, parallelCoordinates]) part.start(state);
  if (dom.has('strata')) strataFigure.start(state);
  if (dom.has('attribution')) attributionFigure.start(state);
  if (dom.has('latency')) latencyFigure.start(state);
}

export function bindChoices(state: App): void {
  const { arms, metrics } = state.data;
  const names = arms.map((arm) => arm.name);
  const inspected = arms.map(({ name, rankings }) => (rankings === null ? `${name} (no rankings)` : name));
  const bind = (id: string, key: 'metric' | 'left' | 'right', labels: readonly string[]) => {
    if (dom.has(id)) dom.bindSelect(state, id, key, labels);
  };
  for (const part of ['arms', 'gains', 'sweep', 'strata', 'inspector']) bind(`${part}-metric`, 'metric', metrics);
  for (const part of ['gains', 'strata', 'latency']) bind(`${part}-arm`, 'right', names);
  bind('inspector-right', 'right', inspected);
  bind('inspector-left', 'left', inspected);
}
