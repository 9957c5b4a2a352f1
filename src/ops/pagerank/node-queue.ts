/** First in, first out; a node waits once. */
export class NodeQueue {
  size = 0;
  #first = 0;
  readonly #nodes: Int32Array;
  readonly #waits: Uint8Array;

  constructor(capacity: number) {
    this.#nodes = new Int32Array(capacity);
    this.#waits = new Uint8Array(capacity);
  }

  add(node: number): void {
    if (this.#waits[node] === 1) return;
    this.#waits[node] = 1;
    this.#nodes[(this.#first + this.size++) % this.#nodes.length] = node;
  }

  take(): number {
    const node = this.#nodes[this.#first]!;
    this.#first = (this.#first + 1) % this.#nodes.length;
    this.size--;
    this.#waits[node] = 0;
    return node;
  }
}
