import { describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { createTreesAsOf } from './conversation-tree.ts';
import { drawSampleForest } from './forest.fixture.ts';
import { buildFrameTables } from './frame-tables.ts';

const { corpus, vectors, components } = drawSampleForest(createRandom(7, 'conversation-tree.test'));
const tables = buildFrameTables(corpus, vectors, components);
const trees = createTreesAsOf(tables);

describe.each([...corpus.conversations.keys()])('conversation %i', (conversation) => {
  const all = [...corpus.turns.keys()].filter((position) => corpus.conversationOf[position] === conversation);
  const sizes = Array.from(all, (_, i) => i + 1);

  test('of its first turns each has the siblings and children that are there by then', () => {
    for (const size of sizes) {
      const [tree, seen] = [trees(conversation, size), all.slice(0, size)];
      for (const i of seen) {
        const siblings = seen.filter((j) => corpus.parent[j] === corpus.parent[i]);
        expect([tree.siblings(i), tree.siblingIndex(i)]).toEqual([siblings.length, siblings.indexOf(i)]);
        expect(tree.children(i)).toBe(seen.filter((j) => corpus.parent[j] === i).length);
        expect([tree.parent(i), tree.depth(i)]).toEqual([corpus.parent[i], tables.depth[i]]);
        expect(tree.homogeneity(i)).toBe(tables.homogeneity[i]);
      }
    }
  });

  test('the greatest figures are those of the turns that are there', () => {
    for (const size of sizes) {
      const [tree, seen] = [trees(conversation, size), all.slice(0, size)];
      const findMost = (figure: (position: number) => number) => Math.max(...seen.map(figure));
      const parents = seen.map((i) => corpus.parent[i]!).filter((above) => above >= 0);
      const answers = parents.map((above) => parents.filter((other) => other === above).length);
      expect(tree.deepest).toBe(findMost((i) => tables.depth[i]!));
      expect(tree.largestGroup).toBe(findMost((i) => tree.siblings(i)));
      expect(tree.mostChildren).toBe(Math.max(0, ...answers));
    }
  });
});
