import { expect, test } from 'vitest';
import { DISPLAY, type Displayable } from '../../core/display/display.ts';
import { drawRecords } from './memory.fixture.ts';
import { openMemory } from './open-memory.ts';

test('a notebook shows the prior and the candidates of an answer, whose JSON is as before', async () => {
  const memory = await openMemory({ dimension: 8 });
  await memory.addBatch(drawRecords(7));
  const embedding = drawRecords(1, 7)[0]?.embedding as Float32Array;
  const response = await memory.query({ embedding, k: 3 });
  const shown = await (response as unknown as Displayable)[DISPLAY]();
  expect(shown['text/plain']).toMatch(/^prior over the outcomes of the candidates\ncount +mean +low +high/);
  expect(shown['text/plain']).toContain('3 candidates, found in main\nrank  record');
  expect(shown['text/plain']).toContain(response.candidates[0]?.recordId);
  expect(shown['text/html']).toContain('<table>');
  expect(Object.keys(response)).toEqual(['prior', 'candidates', 'indexesSearched', 'latency']);
  await memory.close();
});

test('the prior of nothing has empty figures', async () => {
  const memory = await openMemory({ dimension: 8 });
  const response = await memory.query({ embedding: new Float32Array(8).fill(1) });
  const shown = await (response as unknown as Displayable)[DISPLAY]();
  expect(shown['text/plain']).toContain('0 candidates, found in main');
  await memory.close();
});
