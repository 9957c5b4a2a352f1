import type { FitPayload, Payload } from '../page/payload.ts';
import * as calibrationFigure from './calibration-figure.ts';
import * as curveFigure from './curve-figure.ts';
import * as dom from './dom.ts';
import * as importanceFigure from './importance-figure.ts';
import * as plot from './plot.ts';
import * as weightsFigure from './weights-figure.ts';

/** Draws the figures of what was fitted. */
export function startFit({ metrics, signs, level }: Payload, fit: FitPayload): void {
  const drawFitFigure = (id: string, draw: (node: HTMLElement) => void) => {
    const node = dom.getElement(id);
    draw(node);
    plot.redrawOnNewLook(() => draw(node));
  };
  drawFitFigure('weights-figure', (node) => weightsFigure.drawWeights(node, fit.weights));
  drawFitFigure('loss-figure', (node) => curveFigure.drawCurves(node, fit.curves, 'loss'));
  drawFitFigure('validation-figure', (node) => curveFigure.drawCurves(node, fit.curves, 'validation'));
  drawFitFigure('calibration-figure', (node) => calibrationFigure.drawCalibration(node, fit.bins));
  if (fit.families.length === 0) return;
  const select = dom.getElement<HTMLSelectElement>('importance-metric');
  select.replaceChildren(...metrics.map((metric, m) => dom.createNode('option', { value: String(m) }, metric)));
  const draw = (node: HTMLElement) =>
    importanceFigure.drawImportance(
      node,
      fit.families,
      Number(select.value),
      1 - level,
      signs[Number(select.value)] ?? 1,
    );
  drawFitFigure('importance-figure', draw);
  select.addEventListener('change', () => draw(dom.getElement('importance-figure')));
}
