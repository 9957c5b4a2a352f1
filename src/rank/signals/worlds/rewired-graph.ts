import { createRandom, type Random } from '../../../core/numbers/random.ts';
import { multiplyRows } from '../../../core/tensors/rows.ts';
import type { Conversation } from '../../../model/turns/conversation.ts';
import type { ConversationTree, TreeAsOf } from '../../../ops/trajectory/conversation-tree.ts';
import { type CorpusFrames, computeDepths, groupOf, readField } from '../../../ops/trajectory/frame-tables.ts';
import { clipCosine } from '../../../ops/trajectory/homogeneity.ts';
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
 * A tree by its parents.
 *
 * @param parent [n] ring positions, -1 for a root.
 * @param compare the cosine of two turns, clipped to [0, 1].
 */
function buildTreeOfParents(parent: Int32Array, compare: (turn: number, other: number) => number): ConversationTree {
  const turns = parent.length;
  const depth = computeDepths(parent);
  const members = new Int32Array(turns + 1); // the roots are the last group
  const siblingIndex = Int32Array.from(parent, (_, turn) => {
    const index = members[groupOf(parent, turn)] as number;
    members[groupOf(parent, turn)] = index + 1;
    return index;
  });
  const findGreatest = (figures: Int32Array) => figures.reduce((greatest, figure) => Math.max(greatest, figure), 0);
  return {
    deepest: findGreatest(depth),
    largestGroup: findGreatest(members),
    mostChildren: findGreatest(members.subarray(0, turns)),
    parent: (turn) => parent[turn] as number,
    depth: (turn) => depth[turn] as number,
    siblingIndex: (turn) => siblingIndex[turn] as number,
    siblings: (turn) => members[groupOf(parent, turn)] as number,
    children: (turn) => members[turn] as number,
    homogeneity: (turn) => ((parent[turn] as number) < 0 ? 1 : compare(turn, parent[turn] as number)),
  };
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
  return keepLatest((conversation, turns) => {
    const { id } = corpus.conversations[conversation] as Conversation;
    const tables = frames.tables(conversation);
    const positions = frames.positions(conversation);
    const order = (orders[conversation] as Int32Array).subarray(0, turns);
    const source = createRandom(seed, `rewired-graph/${id}/${turns}`);
    const parent = Int32Array.from({ length: turns }, (_, turn) => readField(tables, 'parent', turn));
    const rewired = rewire(parent, order, source);
    return buildTreeOfParents(rewired, (turn, other) => {
      const product = multiplyRows(vectors, positions[turn] as number, vectors, positions[other] as number, dimension);
      return clipCosine(product, readField(tables, 'square', turn), readField(tables, 'square', other));
    });
  });
}
