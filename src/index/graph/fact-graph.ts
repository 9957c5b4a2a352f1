import { ValidationError } from '../../core/errors/errors.ts';
import { getOrCompute } from '../../core/values/once.ts';
import {
  assertWindow,
  checkClosing,
  checkFact,
  checkMoments,
  type Fact,
  type FactClosing,
  type FactEdge,
  type FactMoments,
  type FactOperation,
} from './fact-edge.ts';

/** An edge of a node as of two moments, and its other end: the node itself for an edge from a node to itself. */
export interface FactNeighbour {
  readonly node: string;
  readonly edge: FactEdge;
}

/** A version, and when the store ceased to believe it. What is handed out never changes. */
interface Row {
  readonly edge: FactEdge;
  supersededAt: number | null;
}

/** Versions in the order in which they were recorded. */
class RowList {
  readonly #rows: Row[] = [];
  /** Those that the store believes, in the same order. */
  readonly #believed = new Set<Row>();

  add(row: Row): void {
    this.#rows.push(row);
    this.#believed.add(row);
  }

  supersede(row: Row): void {
    this.#believed.delete(row);
  }

  all(): readonly Row[] {
    return this.#rows;
  }

  /** The versions that may have been believed at a moment; null: those that are believed. */
  *candidates(known: number | null): IterableIterator<Row> {
    if (known === null) yield* this.#believed;
    else
      for (const row of this.#rows) {
        if (row.edge.recordedAt > known) return; // rows are in the order of recordedAt
        yield row;
      }
  }
}

/**
 * Facts as directed edges on two timelines (snodgrass1985taxonomy). Valid time says when a fact held in the world.
 * Transaction time says when the store believed it. A change adds a version and removes nothing, so a query can be
 * answered as the store would have answered it at any earlier moment.
 *
 * The transaction timeline only grows: a change is recorded at the moment of the last one, or later. So an answer for a
 * `known` before the last recorded moment is final. An answer holds nothing that was learned after `known`: its
 * `supersededAt` is null.
 *
 * Cost, with V versions in the graph, v versions that touch a node, b of them believed: a change O(1); {@link asOf} now
 * O(believed versions), at an earlier moment O(versions recorded until then); {@link neighbours} now O(b), at an
 * earlier moment O(v). Memory O(V).
 */
export class FactGraph {
  /** @internal What a change of the graph is checked against. */
  readonly ledger = new FactLedger();
  readonly #rows = new RowList();
  readonly #byNode = new Map<string, RowList>();
  readonly #byFact = new Map<string, Row[]>();
  #operations = 0;

  /** Versions so far; never falls. */
  get size(): number {
    return this.#rows.all().length;
  }

  /** Facts so far; never falls. */
  get facts(): number {
    return this.#byFact.size;
  }

  /** The moment of the last change; null for an empty graph. */
  get lastRecordedAt(): number | null {
    return this.ledger.last;
  }

  /** Versions looked at by queries: what the queries cost so far. */
  get operations(): number {
    return this.#operations;
  }

  /**
   * Adds a fact that the store learns at a moment.
   *
   * @returns its version.
   * @throws ValidationError for an id that is in the graph, a time or weight that is not finite, a weight that is not
   *   above 0, a validUntil that is not after validFrom, an empty text, an unknown key, and a recordedAt before the
   *   last one; the graph is as before then.
   */
  assert(fact: Fact, recordedAt: number): FactEdge {
    return this.apply(checkFact(fact, recordedAt));
  }

  /**
   * Records when a fact ceased to hold. The version that the store believed stays, with supersededAt; a version with
   * the closed window follows. A fact that has an end may be superseded again, which corrects the end.
   *
   * @returns the new version.
   * @throws ValidationError for an id or `by` that is not in the graph, a fact `by` itself, and as {@link assert}; the
   *   graph is as before then.
   */
  supersede(id: string, closing: FactClosing): FactEdge {
    return this.apply(checkClosing(id, closing));
  }

  /** @internal Does a checked operation. @throws ValidationError for one that may not follow the earlier ones. */
  apply(operation: FactOperation): FactEdge {
    this.ledger.add(operation);
    const { recordedAt } = operation;
    if (operation.kind === 'assert') return this.#add({ ...operation.fact, recordedAt, closedBy: null });
    const { id, validUntil, by } = operation;
    const last = this.#byFact.get(id)?.at(-1) as Row;
    last.supersededAt = recordedAt;
    for (const list of this.#listsOf(last.edge)) list.supersede(last);
    return this.#add({ ...last.edge, validUntil, recordedAt, closedBy: by });
  }

  /** The lists that hold a version. */
  #listsOf({ source, target }: Pick<FactEdge, 'source' | 'target'>): RowList[] {
    const nodes = new Set([source, target]);
    return [this.#rows, ...[...nodes].map((node) => getOrCompute(this.#byNode, node, () => new RowList()))];
  }

  #add(version: Omit<FactEdge, 'supersededAt'>): FactEdge {
    const edge = Object.freeze({ ...version, supersededAt: null });
    const row: Row = { edge, supersededAt: null };
    for (const list of this.#listsOf(edge)) list.add(row);
    getOrCompute(this.#byFact, edge.id, () => []).push(row);
    return edge;
  }

  /**
   * The edges that the store believed at `known` and that held in the world at `valid`, in the order in which their
   * versions were recorded.
   *
   * @throws ValidationError for a moment that is not finite, or an unknown key.
   */
  asOf(moments: FactMoments = {}): FactEdge[] {
    return this.#select(this.#rows, moments);
  }

  /**
   * The edges from and to a node as of two moments, as {@link asOf}; none for an unknown node.
   *
   * @throws ValidationError.
   */
  neighbours(node: string, moments: FactMoments = {}): FactNeighbour[] {
    const list = this.#byNode.get(node);
    const edges = this.#select(list ?? new RowList(), moments);
    return edges.map((edge) => ({ node: edge.source === node ? edge.target : edge.source, edge }));
  }

  #select(list: RowList, moments: FactMoments): FactEdge[] {
    const { valid, known: asked } = checkMoments(moments);
    const known = asked !== null && asked >= (this.lastRecordedAt ?? asked) ? null : asked; // after every change: now
    const edges: FactEdge[] = [];
    for (const { edge, supersededAt } of list.candidates(known)) {
      this.#operations++;
      const isKnown = known === null || isWithin(edge.recordedAt, supersededAt, known);
      if (isKnown && (valid === null || isWithin(edge.validFrom, edge.validUntil, valid))) edges.push(edge);
    }
    return edges;
  }

  /**
   * Every version so far in the order in which they were recorded, with the moments at which they were superseded: of a
   * fact, or of all facts.
   *
   * @throws ValidationError for an unknown id.
   */
  versions(id?: string): FactEdge[] {
    const rows = id === undefined ? this.#rows.all() : this.#byFact.get(id);
    if (rows === undefined) throw new ValidationError(`fact is not in the graph: ${id}; assert it first`, { id });
    return rows.map(({ edge, supersededAt }) => Object.freeze({ ...edge, supersededAt }));
  }
}

/** True if a half-open window contains a moment. */
function isWithin(from: number, until: number | null, moment: number): boolean {
  return from <= moment && (until === null || moment < until);
}

/**
 * What decides whether an operation may follow others: the facts so far, and the moment of the last operation. A ledger
 * above another one adds to what that one has and leaves that one as it is, for operations that wait to be written.
 */
export class FactLedger {
  readonly #below: FactLedger | null;
  /** By id, the beginning of its valid window. */
  readonly #starts = new Map<string, number>();
  #last: number | null = null;

  constructor(below: FactLedger | null = null) {
    this.#below = below;
  }

  /** The moment at which the last operation was recorded; null if there was none. */
  get last(): number | null {
    return this.#last ?? this.#below?.last ?? null;
  }

  /** Since when a fact holds; undefined for an unknown fact. */
  findStart(id: string): number | undefined {
    return this.#starts.get(id) ?? this.#below?.findStart(id);
  }

  /** Adds an operation. @throws ValidationError for one that may not follow; the ledger is as before then. */
  add(operation: FactOperation): void {
    this.#assertOrder(operation.recordedAt);
    if (operation.kind === 'supersede') this.#assertCloses(operation);
    else this.#assertNew(operation.fact.id);
    if (operation.kind === 'assert') this.#starts.set(operation.fact.id, operation.fact.validFrom);
    this.#last = operation.recordedAt;
  }

  #assertOrder(recordedAt: number): void {
    const { last } = this;
    if (last === null || recordedAt >= last) return;
    throw new ValidationError(
      `recordedAt is before the last one: ${recordedAt} < ${last}; record facts in the order in which they are learned`,
      { recordedAt, last },
    );
  }

  #assertNew(id: string): void {
    if (this.findStart(id) === undefined) return;
    throw new ValidationError(`fact is in the graph: ${id}; supersede it, or use another id`, { id });
  }

  #assertCloses({ id, validUntil, by }: Extract<FactOperation, { kind: 'supersede' }>): void {
    for (const known of by === null ? [id] : [id, by])
      if (this.findStart(known) === undefined)
        throw new ValidationError(`fact is not in the graph: ${known}; assert it first`, { id: known });
    assertWindow(`fact ${id}`, this.findStart(id) as number, validUntil);
  }
}
