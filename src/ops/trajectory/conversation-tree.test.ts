import { expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { countChildren, countSiblings } from './conversation-tree.ts';
import { drawSampleForest } from './forest.fixture.ts';
import { openFrames } from './frame-tables.ts';

const { corpus, vectors, components } = drawSampleForest(createRandom(7, 'conversation-tree.test'));
const frames = openFrames(corpus, vectors, components);
const { ringPosition } = corpus;

test.each([...corpus.conversations.keys()])(
  'of the first turns of conversation %i each has the siblings and children that are there by then',
  (conversation) => {
    const all = [...corpus.turns.keys()].filter((position) => corpus.conversationOf[position] === conversation);
    const tables = frames.tables(conversation);
    for (let size = 1; size <= all.length; size++) {
      const seen = all.slice(0, size);
      for (const i of seen) {
        const at = ringPosition[i]!;
        const siblings = seen.filter((j) => corpus.parent[j] === corpus.parent[i]);
        expect(countSiblings(tables, at, size)).toBe(siblings.length);
        expect(countChildren(tables, at, size)).toBe(seen.filter((j) => corpus.parent[j] === i).length);
      }
    }
  },
);
