import type { ModelPayload, TrainingPayload } from '../../training/training-payload.ts';
import * as dom from '../dom.ts';
import * as plot from '../plot.ts';
import * as tables from '../tables.ts';
import * as calibrationFigure from './calibration-figure.ts';
import * as curveFigure from './curve-figure.ts';
import * as importanceFigure from './importance-figure.ts';
import * as weightsFigure from './weights-figure.ts';

/** Adds interaction to the page of a training; the page contains its content without a script. */
function startPage(): void {
  tables.allSortable();
  const data = JSON.parse(dom.byId('data').textContent ?? '') as TrainingPayload;
  for (const [at, model] of data.models.entries()) startModel(data, model, at);
}

/** Draws the figures of a model, each in the element that ends with its place. */
function startModel({ metrics, level }: TrainingPayload, model: ModelPayload, at: number): void {
  const figure = (id: string, draw: (node: HTMLElement) => void) => {
    const node = dom.byId(`${id}-${at}`);
    draw(node);
    plot.onNewLook(() => draw(node));
  };
  figure('weights-figure', (node) => weightsFigure.drawWeights(node, model.weights));
  figure('loss-figure', (node) => curveFigure.drawCurves(node, model.curves, 'loss'));
  figure('validation-figure', (node) => curveFigure.drawCurves(node, model.curves, 'validation'));
  figure('calibration-figure', (node) => calibrationFigure.drawCalibration(node, model.bins));
  if (model.families.length === 0) return;
  const select = dom.byId<HTMLSelectElement>(`importance-metric-${at}`);
  select.replaceChildren(...metrics.map((metric, m) => dom.element('option', { value: String(m) }, metric)));
  const draw = (node: HTMLElement) =>
    importanceFigure.drawImportance(node, model.families, Number(select.value), 1 - level);
  figure('importance-figure', draw);
  select.addEventListener('change', () => draw(dom.byId(`importance-figure-${at}`)));
}

startPage();
