import { expect, test } from 'vitest';
import { readDisplay } from '../../core/display/display.harness.ts';
import { Conversation } from '../../model/turns/conversation.ts';
import { computeTrajectoryCoordinates } from './coordinates.ts';

test('coordinates are a table with a row for each turn', async () => {
  const shared = { conversationId: 'c', author: null, channel: null, text: 'x' };
  const turns = [
    { ...shared, id: 'a', parentId: null, timestamp: 0 },
    { ...shared, id: 'b', parentId: 'a', timestamp: 4 },
  ];
  const features = new Map(turns.map(({ id }) => [id, { embedding: [1, 0], components: 1 }]));
  const coordinates = computeTrajectoryCoordinates(new Conversation('c', turns), features, { dimensions: 3 });
  expect((await readDisplay(coordinates))['text/plain'].split('\n')).toEqual([
    'trajectory coordinates of 2 turns',
    'turn  depth  temporal  homogeneity',
    'a         0         0            1',
    'b         1         1            1',
  ]);
  expect(Object.keys(coordinates)).toEqual(['turnIds', 'names', 'values']);
});
