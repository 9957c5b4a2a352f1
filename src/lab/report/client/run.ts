import type { Payload } from '../page/payload.ts';
import * as address from './address.ts';
import type { App } from './app.ts';
import * as app from './app.ts';
import * as armFilter from './arm-filter.ts';
import * as armsFigure from './arms-figure.ts';
import * as attributionFigure from './attribution-figure.ts';
import * as conservationFigure from './conservation-figure.ts';
import * as differencesFigure from './differences-figure.ts';
import * as dom from './dom.ts';
import * as evidenceFigure from './evidence-figure.ts';
import * as fitFigures from './fit-figures.ts';
import * as gainsFigure from './gains-figure.ts';
import * as heatMap from './heat-map.ts';
import * as inspector from './inspector.ts';
import * as interactionPlot from './interaction-plot.ts';
import * as latencyFigure from './latency-figure.ts';
import * as parallelCoordinates from './parallel-coordinates.ts';
import * as strataFigure from './strata-figure.ts';
import * as sweep from './sweep.ts';
import * as tables from './tables.ts';

/** The script of the page of a run. Without it the page shows its tables. */
function startPage(): void {
  tables.makeTablesSortable();
  const data = JSON.parse(dom.getElement('data').textContent ?? '') as Payload;
  const state = app.createApp(data);
  address.read(state);
  bindChoices(state);
  for (const part of [armFilter, armsFigure]) part.start(state);
  if (dom.has('differences')) differencesFigure.start(state);
  inspector.start(state);
  if (dom.has('gains')) gainsFigure.start(state);
  if (dom.has('evidence')) evidenceFigure.start(state);
  if (dom.has('conservation')) conservationFigure.start(state);
  if (dom.has('sweep')) for (const part of [sweep, heatMap, interactionPlot, parallelCoordinates]) part.start(state);
  if (dom.has('strata')) strataFigure.start(state);
  if (dom.has('attribution')) attributionFigure.start(state);
  if (dom.has('latency')) latencyFigure.start(state);
  if (data.fit !== null) fitFigures.startFit(data, data.fit);
  address.start(state);
}

function bindChoices(state: App): void {
  const { arms, metrics } = state.data;
  const names = arms.map((arm) => arm.name);
  const bind = (id: string, key: 'metric' | 'left' | 'right', labels: readonly string[]) => {
    if (dom.has(id)) dom.bindSelect(state, id, key, labels);
  };
  for (const part of ['differences', 'arms', 'gains', 'sweep', 'strata']) bind(`${part}-metric`, 'metric', metrics);
  for (const part of ['gains', 'evidence', 'conservation', 'strata', 'latency']) bind(`${part}-arm`, 'right', names);
}

startPage();
