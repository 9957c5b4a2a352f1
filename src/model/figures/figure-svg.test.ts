import { expect, test } from 'vitest';
import { drawFigureSvg } from './figure-svg.ts';

const draw = (data: Record<string, unknown>[], layout: Record<string, unknown> = {}) =>
  drawFigureSvg({ data, layout }) as string;
const count = (picture: string, pattern: RegExp) => [...picture.matchAll(pattern)].length;

test('a line joins its points and is interrupted by a missing one', () => {
  const picture = draw([{ type: 'scatter', mode: 'lines', x: [0, 1, 2, 3], y: [1, 2, null, 4] }]);
  const path = /<path d="([^"]+)" stroke="#636efa"/.exec(picture)?.[1] as string;
  expect(count(path, /M/g)).toBe(2);
  expect(count(path, /L/g)).toBe(1);
});

test('a bar of twice the value is twice as long, from 0', () => {
  const picture = draw([{ type: 'bar', x: ['a', 'b'], y: [3, 6] }]);
  const heights = [...picture.matchAll(/<rect [^>]*height="([\d.]+)" fill="#636efa"/g)].map(([, height]) =>
    Number(height),
  );
  expect(heights).toHaveLength(2);
  expect((heights[1] as number) / (heights[0] as number)).toBeCloseTo(2, 1);
});

test('bars of error are within the frame, as far as they go', () => {
  const error_x = { type: 'data', symmetric: false, array: [5, 0.1], arrayminus: [0.2, 4] };
  const picture = draw([{ type: 'scatter', mode: 'markers', x: [0, 1], y: ['a', 'b'], error_x }]);
  const bars = [...picture.matchAll(/<path d="M([\d.-]+) [\d.]+H([\d.-]+)" stroke="#636efa" fill="none"/g)];
  const [ends, names] = [
    bars.flatMap(([, low, high]) => [Number(low), Number(high)]),
    [...picture.matchAll(/<text x="([\d.]+)"[^>]*>[ab]</g)],
  ];
  expect(ends).toHaveLength(4);
  expect(names).toHaveLength(2);
  const width = Number(/viewBox="0 0 (\d+)/.exec(picture)?.[1]);
  expect(Math.min(...ends)).toBeGreaterThan(Number(names[0]?.[1]));
  expect(Math.max(...ends)).toBeLessThan(width);
});

test('a reversed axis has its first row on top', () => {
  const rows = (layout: Record<string, unknown>) => {
    const picture = draw([{ type: 'heatmap', z: [[0], [1]], y: ['first', 'last'] }], layout);
    return ['first', 'last'].map((name) => Number(new RegExp(`y="([\\d.]+)"[^>]*>${name}<`).exec(picture)?.[1]));
  };
  const [low, high] = rows({});
  expect(low).toBeGreaterThan(high as number);
  const [top, bottom] = rows({ yaxis: { autorange: 'reversed' } });
  expect(top).toBeLessThan(bottom as number);
});

test('a heat map has a cell for each value that is there, and a bar of its range', () => {
  const picture = draw([
    {
      type: 'heatmap',
      z: [
        [0, 0.5, 1],
        [null, 0.25, 1],
      ],
    },
  ]);
  expect(count(picture, /M[\d.]+ [\d.]+h[\d.]+v[\d.]+h-/g)).toBe(5);
  expect(picture).toContain('>1.000<');
});

test('texts are escaped, and colours of a trace cannot end their attribute', () => {
  const marker = { color: 'red"/><script>' };
  const picture = draw(
    [
      { mode: 'markers', name: '<b>', y: [1], marker },
      { name: 'c', y: [2] },
    ],
    { title: 'a & b' },
  );
  expect(picture).toContain('a &amp; b');
  expect(picture).toContain('&lt;b&gt;');
  expect(picture).not.toContain('<script>');
});

test('a logarithmic axis has its powers of ten at equal distances', () => {
  const picture = draw([{ y: [1, 10, 100] }], { yaxis: { type: 'log', range: [0, 2] } });
  const places = ['1', '10', '100'].map((text) =>
    Number(new RegExp(`y="([\\d.]+)" text-anchor="end">${text}<`).exec(picture)?.[1]),
  );
  expect((places[0] as number) - (places[1] as number)).toBeCloseTo((places[1] as number) - (places[2] as number), 0);
});

test('a line of the layout is drawn where its ends are, and the axis reaches it', () => {
  const zero = { type: 'line', x0: 0, x1: 0, yref: 'paper', y0: 0, y1: 1, line: { color: '#123456', dash: 'dot' } };
  const trace = { mode: 'markers', x: [-0.5, -0.25], y: ['a', 'b'] };
  const picture = draw([trace], { shapes: [zero, { type: 'rect', x0: 7, x1: 8, y0: 0, y1: 1 }] });
  const [, x0, y0, x1, y1] =
    /<path d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)" stroke="#123456"/.exec(picture)?.map(Number) ?? [];
  const [a, b] = [...picture.matchAll(/<circle cx="([\d.]+)"/g)].map(([, x]) => Number(x));
  expect(x1).toBe(x0);
  expect((x0 as number) - (b as number)).toBeCloseTo((b as number) - (a as number), 0); // -0.5, -0.25, 0
  expect((y0 as number) - (y1 as number)).toBeGreaterThan(300); // the whole height
  expect(count(picture, /stroke-dasharray/g)).toBe(1);
  expect(picture).not.toContain('>8<');
});

test('a line between two points of the axes has their places', () => {
  const line = { type: 'line', x0: 1, x1: 3, y0: 2, y1: 6 };
  const picture = draw([{ mode: 'markers', x: [1, 3], y: [2, 6] }], { shapes: [line] });
  const [[left, low], [right, high]] = [...picture.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g)].map(([, x, y]) => [
    x,
    y,
  ]) as [[string, string], [string, string]];
  expect(picture).toContain(`d="M${left} ${low}L${right} ${high}"`);
});
