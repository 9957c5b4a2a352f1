import { MultiUndirectedGraph } from 'graphology';
import { ValidationError } from '../../core/errors/errors.ts';
import { freezeDeeply, getOrCompute } from '../../core/values/once.ts';
import { type FormAlias, FormAliases } from './form-aliases.ts';
import { NamedTitles } from './named-titles.ts';

/** The kinds of edges of a concept graph, in the order in which a memory brings them. */
export const EDGE_KINDS = freezeDeeply([
  'mentions',
  'alias',
  'cooccurrence',
  'relation',
  'reply',
  'next',
  'names',
  'similar',
] as const);
/**
 * What an edge says: a memory mentions a concept; two concepts are spellings of one (`alias`); two concepts stand near
 * each other in a memory (`cooccurrence`), or are joined by a triple of a memory (`relation`); a turn answers a turn
 * (`reply`) or follows it in their conversation (`next`); the text of a memory holds the title of another (`names`);
 * two memories are `similar` by the cosine of their vectors.
 */
export type EdgeKind = (typeof EDGE_KINDS)[number];

/** A memory as a concept graph takes it in. */
export interface GraphMemory {
  readonly id: string;
  readonly conversationId: string;
  readonly parentId: string | null;
  readonly text: string;
  /** What other texts may name it by; null for none. */
  readonly title: string | null;
  /** The concepts that it mentions, in the order of the text; one that is repeated counts once. */
  readonly concepts: readonly string[];
  /** Pairs of its concepts that a triple joins, in either order. */
  readonly relations?: readonly (readonly [string, string])[];
  /** Earlier memories that it is similar to, with the weights of the edges. */
  readonly similar?: ReadonlyMap<string, number>;
}

/** A node: `time` is the number of the memory, and of a concept that of the first memory that mentions it. */
export interface ConceptNode {
  readonly kind: 'memory' | 'concept';
  readonly time: number;
}

/**
 * An edge: `time` is the number of the memory that brought it, the later one where it joins two. Its source is what
 * mentions or names, its target what is mentioned or named.
 */
export interface ConceptEdge {
  readonly kind: EdgeKind;
  readonly weight: number;
  readonly time: number;
}

/**
 * The concepts after a concept, in the order of a memory's text, that it has an edge to: the edges of a memory are
 * linear in its concepts.
 */
const NEARBY_CONCEPTS = 4;

/** The node of a memory in a concept graph. */
export const nameMemoryNode = (id: string): string => `memory ${id}`;
/** The node of a concept in a concept graph. */
export const nameConceptNode = (concept: string): string => `concept ${concept}`;

/**
 * Forms that are near a form by another measure than its letters, such as the cosine of vectors, with the weights of
 * the edges; those that come later are not read.
 */
export type NearForms = ReadonlyMap<string, ReadonlyMap<string, number>>;

/**
 * The least similarity of two spellings of a concept: the best on half of the pairs of the experiment
 * `concept-aliases`.
 */
export const ALIAS_ABOVE = 0.4;

/**
 * Memories and the concepts that they mention, with weighted edges that each have a kind and a time; undirected.
 * Several edges of one kind may join two concepts, one for each memory where they stand near each other, so that the
 * sum of their weights is right at every time.
 *
 * Memories arrive in time order, in batches of any size, and nothing is ever removed: an insertion is the union of two
 * sets, so that the graph does not depend on the batches. It costs what is new, see {@link NamedTitles} for titles.
 */
export class ConceptGraph {
  readonly graph = new MultiUndirectedGraph<ConceptNode, ConceptEdge>();
  readonly #nodes: string[] = [];
  readonly #edges: string[] = [];
  readonly #concepts: string[] = [];
  readonly #kinds: ReadonlySet<EdgeKind>;
  readonly #titles = new NamedTitles();
  /** [memories] ids by number. */
  readonly #ids: string[] = [];
  /** The last memory of each conversation. */
  readonly #lastOf = new Map<string, string>();
  /** Memories whose parent has not arrived: turns of one moment are in the order of their ids. */
  readonly #waiting = new Map<string, string[]>();
  readonly #aliases: FormAliases;
  #added = 0;

  /**
   * @param kinds of edges to make; all of them by default.
   * @param aliasAbove the least similarity of two spellings of a concept, see {@link FormAliases}.
   */
  constructor(kinds: Iterable<EdgeKind> = EDGE_KINDS, aliasAbove: number = ALIAS_ABOVE) {
    this.#kinds = new Set(kinds);
    this.#aliases = new FormAliases(aliasAbove);
  }

  /** [V] the names of the nodes, in the order in which they were added. */
  get nodes(): readonly string[] {
    return this.#nodes;
  }

  /** [E] the keys of the edges, in the order in which they were added. */
  get edges(): readonly string[] {
    return this.#edges;
  }

  /** The concepts so far, in the order in which they were first mentioned. */
  get concepts(): readonly string[] {
    return this.#concepts;
  }

  /** Memories so far. */
  get size(): number {
    return this.#ids.length;
  }

  /** Nodes and edges added, words, postings and spellings looked at: what the insertions cost so far. */
  get operations(): number {
    return this.#added + this.#titles.operations + this.#aliases.operations;
  }

  /**
   * @param near further spellings of the concepts that these memories are the first to mention.
   * @throws ValidationError for a memory that is in the graph, that is similar to one that is not, or that relates what
   *   is none of its concepts.
   */
  insert(memories: readonly GraphMemory[], near: NearForms = new Map()): void {
    for (const memory of memories) this.#insertOne(memory, near);
  }

  /**
   * The memories of each title that a text holds, such as a question, by number, ascending; none unless the graph makes
   * edges of `names`.
   */
  findNamed(text: string): (readonly number[])[] {
    return this.#titles.find(text);
  }

  /**
   * The concepts of the graph that are spellings of a concept, first mentioned first; none unless the graph makes edges
   * of `alias`.
   */
  findAliases(concept: string): FormAlias[] {
    return this.#aliases.find(concept);
  }

  #insertOne(memory: GraphMemory, near: NearForms): void {
    const node = nameMemoryNode(memory.id);
    if (this.graph.hasNode(node))
      throw new ValidationError(`memory is in the graph: ${memory.id}; insert each memory once`, { id: memory.id });
    for (const other of memory.similar?.keys() ?? [])
      if (!this.graph.hasNode(nameMemoryNode(other)))
        throw new ValidationError(
          `memory ${memory.id} is similar to one that is not in the graph: ${other}; insert that one before`,
          { id: memory.id, other },
        );
    this.#addNode(node, 'memory');
    this.#ids.push(memory.id);
    const has = (kind: EdgeKind) => this.#kinds.has(kind);
    if (has('mentions') || has('cooccurrence') || has('alias') || has('relation'))
      this.#addConcepts(node, [...new Set(memory.concepts)], near);
    if (has('relation')) this.#addRelations(memory);
    if (has('reply')) this.#addReplies(memory);
    if (has('next')) this.#addNext(memory);
    if (has('names')) this.#addNames(node, memory);
    if (has('similar'))
      for (const [other, weight] of memory.similar ?? []) this.#addEdge('similar', node, nameMemoryNode(other), weight);
  }

  #addConcepts(memory: string, concepts: readonly string[], near: NearForms): void {
    const nodes = concepts.map(nameConceptNode);
    for (const [i, node] of nodes.entries()) {
      if (!this.graph.hasNode(node)) {
        this.#addNode(node, 'concept');
        this.#concepts.push(concepts[i] as string);
        if (this.#kinds.has('alias')) this.#addAliases(node, concepts[i] as string, near);
      }
      if (this.#kinds.has('mentions')) this.#addEdge('mentions', memory, node);
    }
    if (!this.#kinds.has('cooccurrence')) return;
    for (const [i, node] of nodes.entries())
      for (const near of nodes.slice(i + 1, i + 1 + NEARBY_CONCEPTS)) this.#addEdge('cooccurrence', node, near);
  }

  /** An edge for each pair of a memory, so that the sum of the weights of a pair is the number of memories with it. */
  #addRelations({ id, concepts, relations = [] }: GraphMemory): void {
    const known = new Set(concepts);
    const pairs = new Map<string, readonly [string, string]>();
    for (const [a, b] of relations) {
      for (const end of [a, b])
        if (!known.has(end))
          throw new ValidationError(`memory ${id} relates what is none of its concepts: ${end}; add the concept`, {
            id,
          });
      if (a !== b) pairs.set(JSON.stringify([a, b].sort()), [a, b]);
    }
    for (const [a, b] of pairs.values()) this.#addEdge('relation', nameConceptNode(a), nameConceptNode(b));
  }

  /** Edges from a new concept to earlier ones, so that no later spelling joins two of them before its time. */
  #addAliases(node: string, concept: string, near: NearForms): void {
    const found = new Map(near.get(concept));
    for (const { form, similarity } of this.#aliases.add(concept))
      found.set(form, Math.max(similarity, found.get(form) ?? 0));
    for (const [form, weight] of found)
      if (this.graph.hasNode(nameConceptNode(form))) this.#addEdge('alias', node, nameConceptNode(form), weight);
  }

  #addReplies({ id, parentId }: GraphMemory): void {
    const node = nameMemoryNode(id);
    if (parentId !== null && this.graph.hasNode(nameMemoryNode(parentId)))
      this.#addEdge('reply', node, nameMemoryNode(parentId));
    else if (parentId !== null) getOrCompute(this.#waiting, parentId, () => [] as string[]).push(id);
    for (const child of this.#waiting.get(id) ?? []) this.#addEdge('reply', nameMemoryNode(child), node);
    this.#waiting.delete(id);
  }

  #addNext({ id, conversationId }: GraphMemory): void {
    const last = this.#lastOf.get(conversationId);
    if (last !== undefined) this.#addEdge('next', nameMemoryNode(last), nameMemoryNode(id));
    this.#lastOf.set(conversationId, id);
  }

  #addNames(node: string, { text, title }: GraphMemory): void {
    const { names, namedBy } = this.#titles.add(text, title);
    const nodeOf = (memory: number) => nameMemoryNode(this.#ids[memory] as string);
    for (const other of names) this.#addEdge('names', node, nodeOf(other));
    for (const other of namedBy) this.#addEdge('names', nodeOf(other), node);
  }

  #addNode(node: string, kind: ConceptNode['kind']): void {
    this.graph.addNode(node, { kind, time: kind === 'memory' ? this.size : this.size - 1 });
    this.#nodes.push(node);
    this.#added++;
  }

  #addEdge(kind: EdgeKind, a: string, b: string, weight = 1): void {
    const time = this.size - 1;
    this.#edges.push(this.graph.addUndirectedEdgeWithKey(`${kind} ${this.#added}`, a, b, { kind, weight, time }));
    this.#added++;
  }
}
