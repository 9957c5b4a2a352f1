import { expect, test } from 'vitest';
import { readDisplay } from '../../core/display/display.harness.ts';
import { buildFigureBundle, countTracePoints, showFigure } from './figure.ts';

const PLOTLY = 'application/vnd.plotly.v1+json';

test('a figure is Plotly JSON without typed arrays, a picture, and a line of text for each trace', () => {
  const data = [
    { type: 'scatter', name: 'energy', y: Float64Array.of(0.25, Number.NaN, 0.5) },
    { type: 'bar', name: 'a<b', y: [1] },
  ];
  const bundle = buildFigureBundle({ data, layout: { title: { text: 'two traces' }, yaxis: { title: 'E' } } });
  expect(bundle['text/plain']).toBe('two traces\nenergy: scatter of 2 values\na<b: bar of 1 value');
  const figure = bundle[PLOTLY] as { data: { y: unknown }[]; layout: Record<string, unknown> };
  expect(figure.data[0]?.y).toEqual([0.25, null, 0.5]);
  expect(figure.layout.paper_bgcolor).toBe('rgba(0,0,0,0)');
  expect(figure.layout.yaxis).toMatchObject({ title: 'E', automargin: true });
  expect(JSON.parse(JSON.stringify(figure))).toEqual(figure);
  expect(bundle['image/svg+xml']).toContain('a&lt;b');
});

test('a figure with a trace that the picture cannot show has no picture', () => {
  const bundle = buildFigureBundle({ data: [{ type: 'pie', values: [1, 2, 3] }], layout: {} });
  expect(bundle).not.toHaveProperty('image/svg+xml');
  expect(bundle['text/plain']).toBe('figure\npie of 3 values');
});

test.each([
  [{ type: 'scatter', x: [1, 2, 3], y: [4, null, 6] }, 2],
  [
    {
      type: 'heatmap',
      z: [
        [1, 2],
        [3, null],
        [5, 6],
      ],
    },
    5,
  ],
  [{ type: 'heatmap', z: [Float32Array.of(1, 2)] }, 2],
  [{ type: 'bar', x: ['a'], y: [] }, 0],
  [{ type: 'scatter', x: [null, 2, Number.NaN], y: ['a', 'b', 'c'] }, 1],
  [{ type: 'histogram', x: [1, 2, 2] }, 3],
  [{ type: 'pie', labels: ['a', 'b'], values: [1, 2] }, 2],
  [{ type: 'scatter' }, 0],
])('counts the points of %j', (trace, count) => {
  expect(countTracePoints(trace)).toBe(count);
});

test('showFigure returns data and layout as they are, for other programs', async () => {
  const figure = showFigure([{ y: [1, 2] }], { title: 'line' });
  expect(figure).toStrictEqual({ data: [{ y: [1, 2] }], layout: { title: 'line' } });
  const bundle = await readDisplay(figure);
  expect(Object.keys(bundle)).toEqual(['text/plain', 'image/svg+xml', PLOTLY]);
});
