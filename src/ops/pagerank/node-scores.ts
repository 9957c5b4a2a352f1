/** Scores of few of many nodes, 0 for the others: reading and clearing them costs the nodes that were touched. For one query after another. */
export class NodeScores {
  /** [V] */
  readonly values: Float64Array;
  /** The nodes that were touched, in the order in which they were. */
  readonly nodes: number[] = [];
  readonly #isTouched: Uint8Array;

  constructor(size: number) {
    this.values = new Float64Array(size);
    this.#isTouched = new Uint8Array(size);
  }

  /** @returns whether the node is touched for the first time. */
  add(node: number, score: number): boolean {
    this.values[node]! += score;
    if (this.#isTouched[node] === 1) return false;
    this.#isTouched[node] = 1;
    this.nodes.push(node);
    return true;
  }

  clear(): void {
    for (const node of this.nodes) {
      this.values[node] = 0;
      this.#isTouched[node] = 0;
    }
    this.nodes.length = 0;
  }
}
