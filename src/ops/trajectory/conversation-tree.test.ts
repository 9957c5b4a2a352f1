import { describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { createTreesAsOf } from './conversation-tree.ts';
import { drawSampleForest } from './forest.fixture.ts';
import { openFrames, readField } from './frame-tables.ts';

const { corpus, vectors, components } = drawSampleForest(createRandom(7, 'conversation-tree.test'));
const frames = openFrames(corpus, vectors, components);
const trees = createTreesAsOf(frames);
const { ringPosition } = corpus;
const ringParent = (i: number) => (corpus.parent[i]! < 0 ? -1 : ringPosition[corpus.parent[i]!]);

describe.each([...corpus.conversations.keys()])('conversation %i', (conversation) => {
  const all = [...corpus.turns.keys()].filter((position) => corpus.conversationOf[position] === conversation);
  const sizes = Array.from(all, (_, i) => i + 1);
  const tables = frames.tables(conversation);

  test('of its first turns each has the siblings and children that are there by then', () => {
    for (const size of sizes) {
      const [tree, seen] = [trees(conversation, size), all.slice(0, size)];
      for (const i of seen) {
        const siblings = seen.filter((j) => corpus.parent[j] === corpus.parent[i]);
        const at = ringPosition[i]!;
        expect([tree.siblings(at), tree.siblingIndex(at)]).toEqual([siblings.length, siblings.indexOf(i)]);
        expect(tree.children(at)).toBe(seen.filter((j) => corpus.parent[j] === i).length);
        expect([tree.parent(at), tree.depth(at)]).toEqual([ringParent(i), readField(tables, 'depth', at)]);
        expect(tree.homogeneity(at)).toBe(readField(tables, 'homogeneity', at));
      }
    }
  });

  test('the greatest figures are those of the turns that are there', () => {
    for (const size of sizes) {
      const [tree, seen] = [trees(conversation, size), all.slice(0, size)];
      const findMost = (figure: (turn: number) => number) => Math.max(...seen.map((i) => figure(ringPosition[i]!)));
      const parents = seen.map((i) => corpus.parent[i]!).filter((above) => above >= 0);
      const answers = parents.map((above) => parents.filter((other) => other === above).length);
      expect(tree.deepest).toBe(findMost((i) => readField(tables, 'depth', i)));
      expect(tree.largestGroup).toBe(findMost((i) => tree.siblings(i)));
      expect(tree.mostChildren).toBe(Math.max(0, ...answers));
    }
  });
});
