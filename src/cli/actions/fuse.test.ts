import { expect, test } from 'vitest';
import { readDisplay } from '../../core/display/display.harness.ts';
import { parseSystem } from '../../lab/measure/system.fixture.ts';
import { fusionOptions } from '../../ops/fusion/registry.ts';
import { fuseSystems } from './fuse.ts';

const build = (name: string, lines: readonly string[]) => parseSystem(name, name, lines);
const left = build('left', ['q1 Q0 a 1 9 left', 'q1 Q0 b 2 8 left', 'q2 Q0 a 1 9 left']);
const right = build('right', ['q1 Q0 b 1 5 right', 'q1 Q0 c 2 4 right', 'q3 Q0 c 1 4 right']);
const rrf = fusionOptions.parse({ method: 'rrf' });

test('reciprocal ranks add up over the systems, query by query', () => {
  const fused = fuseSystems([left, right], rrf, 100);
  expect([...fused.keys()]).toEqual(['q1', 'q2', 'q3']);
  expect(fused.get('q1')?.map(({ id }) => id)).toEqual(['b', 'a', 'c']);
  expect(fused.get('q1')?.[0]?.score).toBeCloseTo(1 / 62 + 1 / 61, 15);
  expect(fused.get('q2')).toEqual([{ id: 'a', score: 1 / 61 }]);
});

test('a fused run shows itself in notebooks', async () => {
  expect((await readDisplay(fuseSystems([left, right], rrf, 100)))['text/plain']).toMatch(/^run of 3 queries with 5 /);
});

test('weights go by the names of the systems, and the depth cuts', () => {
  const options = fusionOptions.parse({ method: 'rrf', weights: { left: 0, right: 2 } });
  expect(fuseSystems([left, right], options, 2).get('q1')).toEqual([
    { id: 'b', score: 2 / 61 },
    { id: 'c', score: 2 / 62 },
  ]);
});

test('one system, or two of one name, are refused', () => {
  expect(() => fuseSystems([left], rrf, 10)).toThrow(/^fusion needs 2 runs or more, got 1; name another run file$/);
  expect(() => fuseSystems([left, left], rrf, 10)).toThrow(/^two systems have one name: left; /);
});

test('a number as a name is refused where the order of the systems counts', () => {
  const systems = [
    { ...left, name: 'dense' },
    { ...right, name: '1' },
  ];
  const convex = fusionOptions.parse({ method: 'convex', theoreticalMinimum: [0, 0] });
  expect(() => fuseSystems(systems, convex, 10)).toThrow(
    'convex depends on the order of the systems, and a name is a number: 1; name the system otherwise, such as run-1=FILE',
  );
  expect(() => fuseSystems(systems, fusionOptions.parse({ method: 'weighted' }), 10)).toThrow(/^weighted depends/);
  expect(fuseSystems(systems, rrf, 10).get('q1')?.[0]?.id).toBe('b');
  const byName = fusionOptions.parse({ method: 'convex', weights: { dense: 0.2, 1: 0.8 } });
  const fused = new Map(
    fuseSystems(systems, byName, 10)
      .get('q1')
      ?.map(({ id, score }) => [id, score]),
  );
  expect([...fused.keys()]).toEqual(['b', 'c', 'a']);
  expect(fused.get('b')).toBeCloseTo(0.2 * (8 / 9) + 0.8, 12);
});
