import { createRandom, type Random } from '../../../core/numbers/random.ts';
import { gatherRows } from '../../../core/tensors/rows.ts';
import type { Conversation } from '../../../model/turns/conversation.ts';
import type { TreeAsOf } from '../../../ops/trajectory/conversation-tree.ts';
import { buildFrameTables, type CorpusFrames, readField } from '../../../ops/trajectory/frame-tables.ts';
import { keepLatest, orderParentsFirst } from './permuted-order.ts';

/**
 * Gives every turn as many children as it had, drawn at random from the later turns. Each of the forests that have the same roots and the same numbers of
 * children, and no child before its parent, is equally likely. From the last turn to the first, each takes its children from the later ones that are still free;
 * how many these are does not depend on what was drawn, hence the equal chances, and it is never too few, since the given forest is one of them. O(n).
 *
 * @param parent [n] -1 for a root
 * @param order [n] the turns, each after its parent
 */
export function rewire(parent: Int32Array, order: Int32Array, source: Random): Int32Array {
  const children = new Int32Array(parent.length);
  for (const above of parent) if (above >= 0) children[above] = (children[above] as number) + 1;
  const rewired = new Int32Array(parent.length).fill(-1);
  const free: number[] = [];
  for (const turn of order.toReversed()) {
    for (let left = children[turn] as number; left > 0; left--) {
      const taken = source.integer(free.length);
      rewired[free[taken] as number] = turn;
      free[taken] = free[free.length - 1] as number;
      free.pop();
    }
    if ((parent[turn] as number) >= 0) free.push(turn);
  }
  return rewired;
}

/**
 * Null control `rewired-graph`: a graph of the same degrees. Every turn has as many children as it has at the moment, but the children are drawn at random, see
 * {@link rewire}; roots stay roots, and a query stays where it is. The numbers of children at later moments must not affect the tree, so it is drawn again
 * whenever its conversation has grown.
 */
export function drawRewiredTrees(frames: CorpusFrames, seed: number): TreeAsOf {
  const { corpus, vectors, dimension } = frames;
  const orders = orderParentsFirst(corpus).map((order) =>
    order.map((position) => corpus.ringPosition[position] as number),
  );
  return keepLatest((conversation, size) => {
    const { id, turns } = corpus.conversations[conversation] as Conversation;
    const tables = frames.tables(conversation);
    const read = (field: 'parent' | 'components') =>
      Int32Array.from({ length: size }, (_, turn) => readField(tables, field, turn));
    const order = (orders[conversation] as Int32Array).subarray(0, size);
    const rewired = rewire(read('parent'), order, createRandom(seed, `rewired-graph/${id}/${size}`));
    const own = gatherRows(vectors, dimension, frames.positions(conversation).subarray(0, size));
    return buildFrameTables({ id, turns: turns.slice(0, size) }, own, read('components'), rewired);
  });
}
