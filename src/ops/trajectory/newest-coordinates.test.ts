import { expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { Conversation } from '../../model/turns/conversation.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { computeTrajectoryCoordinates } from './coordinates.ts';
import { drawSampleForest, FOREST_DIMENSION } from './forest.fixture.ts';
import { openFrames } from './frame-tables.ts';
import { readNewestCoordinates } from './newest-coordinates.ts';

test('the coordinates of a turn are those of the conversation that ends with it', () => {
  const forest = drawSampleForest(createRandom(5, 'newest-coordinates.test'));
  const { vectors, components } = forest;
  // Of two turns of one moment the child may stand first: it has no parent then.
  const isLater = (id: string, i: number) => forest.corpus.getPosition(id) > i;
  const corpus = new Corpus(
    forest.corpus.turns.map((turn, i) =>
      turn.parentId !== null && isLater(turn.parentId, i) ? { ...turn, parentId: null } : turn,
    ),
  );
  const frames = openFrames(corpus, vectors, components);
  const features = new Map(
    corpus.turns.map(({ id }, i) => {
      const embedding = vectors.subarray(i * FOREST_DIMENSION, (i + 1) * FOREST_DIMENSION);
      return [id, { embedding, components: components[i] as number }];
    }),
  );
  for (const [i, { conversationId }] of corpus.turns.entries()) {
    const turns = corpus.turns.slice(0, i + 1).filter((turn) => turn.conversationId === conversationId);
    const { names, values } = computeTrajectoryCoordinates(new Conversation(conversationId, turns), features, {
      dimensions: 5,
    });
    const expected = names.map((name, column) => [name, values.at(column - names.length)]);
    const tables = frames.tables(corpus.conversationOf[i]!);
    expect(readNewestCoordinates(tables, corpus.ringPosition[i]!)).toEqual(Object.fromEntries(expected));
  }
  expect(corpus.size).toBe(89);
});
