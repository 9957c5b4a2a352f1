import type { Payload } from '../../page/payload.ts';
import type { ModelPayload, TrainingPayload } from '../../training/training-payload.ts';
import * as address from '../address.ts';
import * as app from '../app.ts';
import * as dom from '../dom.ts';
import * as inspector from '../inspector.ts';
import * as plot from '../plot.ts';
import * as tables from '../tables.ts';
import * as calibrationFigure from './calibration-figure.ts';
import * as curveFigure from './curve-figure.ts';
import * as importanceFigure from './importance-figure.ts';
import * as weightsFigure from './weights-figure.ts';

/** Adds interaction to the page of a training; the page contains its content without a script. */
function startPage(): void {
  tables.makeTablesSortable();
  const data = JSON.parse(dom.getElement('data').textContent ?? '') as TrainingPayload;
  for (const [at, model] of data.models.entries()) startModel(data, model, at);
  if (data.inspection !== null) startInspector(data.inspection);
}

/** Compares the methods query by query. */
function startInspector(data: Payload): void {
  const state = app.createApp(data);
  address.read(state);
  inspector.start(state);
  address.start(state);
}

/** Draws the figures of a model, each in the element that ends with its place. */
function startModel({ metrics, level }: TrainingPayload, model: ModelPayload, at: number): void {
  const drawModelFigure = (id: string, draw: (node: HTMLElement) => void) => {
    const node = dom.getElement(`${id}-${at}`);
    draw(node);
    plot.redrawOnNewLook(() => draw(node));
  };
  drawModelFigure('weights-figure', (node) => weightsFigure.drawWeights(node, model.weights));
  drawModelFigure('loss-figure', (node) => curveFigure.drawCurves(node, model.curves, 'loss'));
  drawModelFigure('validation-figure', (node) => curveFigure.drawCurves(node, model.curves, 'validation'));
  drawModelFigure('calibration-figure', (node) => calibrationFigure.drawCalibration(node, model.bins));
  if (model.families.length === 0) return;
  const select = dom.getElement<HTMLSelectElement>(`importance-metric-${at}`);
  select.replaceChildren(...metrics.map((metric, m) => dom.createNode('option', { value: String(m) }, metric)));
  const draw = (node: HTMLElement) =>
    importanceFigure.drawImportance(node, model.families, Number(select.value), 1 - level);
  drawModelFigure('importance-figure', draw);
  select.addEventListener('change', () => draw(dom.getElement(`importance-figure-${at}`)));
}

startPage();
