import { expect, test } from 'vitest';
import { readDisplay } from '../../core/display/display.harness.ts';
import { computeConservationMetrics } from './conservation-metrics.ts';
import { ConservationStream } from './conservation-stream.ts';

test('the metrics of a memory are a row of a table, and plain data as before', async () => {
  const metrics = computeConservationMetrics(Float64Array.of(1, 0, 0, 2), [1, 1]);
  const { 'text/plain': text, 'text/html': html } = await readDisplay(metrics);
  expect(text.split('\n').map((line) => line.trim().split(/\s{2,}/))).toEqual([
    ['records', 'magnitude', 'energy', 'coherence', 'information (nats)', 'bits'],
    ['2', '1.500', '.2500', '.5000', '.6931', '1'],
  ]);
  expect(html).toContain('<table>');
  expect(Object.keys(metrics)).not.toContain('display');
});

test('so are those of an empty memory', async () => {
  const { 'text/plain': text } = await readDisplay(new ConservationStream(3).computeStreamMetrics());
  expect(text).toMatch(/\n +0 +0 +0 +0 +0 +0$/);
});
