import type { Endpoint } from '../../../core/service/endpoint-request.ts';
import { withholdSensitive } from '../../../core/service/sendable-text.ts';
import { normaliseForm } from '../../../model/text/concepts.ts';
import { ALIAS_ABOVE } from '../concept-graph.ts';
import { FormAliases } from '../form-aliases.ts';
import { listConcepts } from '../list-concepts.ts';
import type { ConceptLine } from './concept-file.ts';
import { type DefinedRelation, type OpenTriple, requestDefinitions } from './extraction-requests.ts';

/**
 * One form for the spellings of an entity. Forms arrive in the order of time, and a form becomes that of the earliest
 * canonical form that it is a spelling of ({@link FormAliases}), or canonical itself. What a form becomes never depends
 * on later ones.
 */
export class CanonicalEntities {
  readonly #aliases = new FormAliases(ALIAS_ABOVE);
  readonly #canonical = new Set<string>();

  /** @returns the canonical form of a form; a canonical form is its own. */
  take(form: string): string {
    if (this.#canonical.has(form)) return form;
    const [earliest] = this.#aliases.find(form);
    if (earliest !== undefined) return earliest.form;
    this.#aliases.add(form);
    this.#canonical.add(form);
    return form;
  }
}

/**
 * A relation as a turn brought it: with its definition, and the canonical relation that has its meaning, null if it is
 * one itself.
 */
interface BroughtRelation extends DefinedRelation {
  readonly same: string | null;
}

/** A canonical relation. */
interface CanonicalRelation extends DefinedRelation {
  /** True if the turn that brought it is now sensitive. */
  readonly sensitive: boolean;
}

/**
 * One name for the relations of one meaning, in the order of time: a relation becomes an earlier one that a model
 * named, or is canonical itself.
 */
export class CanonicalRelations {
  readonly #canonicalOf = new Map<string, string>();
  readonly #canonical = new Map<string, CanonicalRelation & { triples: number }>();

  /** The canonical relation of one that was brought; undefined for a new one. */
  find(relation: string): string | undefined {
    return this.#canonicalOf.get(relation);
  }

  bring({ relation, definition, same }: BroughtRelation, sensitive: boolean): void {
    this.#canonicalOf.set(relation, same ?? relation);
    if (same === null) this.#canonical.set(relation, { relation, definition, sensitive, triples: 0 });
  }

  /** Counts a triple with a canonical relation. */
  count(relation: string): void {
    const canonical = this.#canonical.get(relation);
    if (canonical !== undefined) canonical.triples++;
  }

  /** The canonical relations of most triples so far, at most `most`; of equally many the earliest first. */
  listFrequent(most: number): readonly CanonicalRelation[] {
    return [...this.#canonical.values()].sort((a, b) => b.triples - a.triples).slice(0, most);
  }
}

/** New relations in a request, and known relations that they are compared with. */
const MOST_DEFINED = 24;
const MOST_KNOWN = 40;

interface Triple {
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
}

/** Turns into lines one after the other: what a turn becomes depends on it and on earlier turns alone. */
export class ConceptLineWriter {
  /** Triples with a part that has no form: without a letter, or too long. */
  leftOut = 0;
  readonly #entities = new CanonicalEntities();
  readonly #relations = new CanonicalRelations();

  /** Takes in a line of an earlier call. */
  replay({ concepts, triples, relations = [] }: ConceptLine, sensitive: boolean): void {
    for (const concept of concepts) this.#entities.take(concept);
    for (const relation of relations) this.#relations.bring(relation, sensitive);
    for (const { relation } of triples) this.#relations.count(relation);
  }

  #normalise(triples: readonly OpenTriple[]): Triple[] {
    return triples.flatMap((parts) => {
      const [subject, relation, object] = parts.map(normaliseForm);
      if (subject && relation && object) return [{ subject, relation, object }];
      this.leftOut++;
      return [];
    });
  }

  /** Has the relations defined that no earlier turn has; each belongs to the turn that brings it. */
  async #define(found: readonly (readonly Triple[])[], endpoint: Endpoint): Promise<BroughtRelation[][]> {
    const brought: BroughtRelation[][] = found.map(() => []);
    const added = new Map<string, Triple & { readonly turn: number; readonly sensitive: boolean }>();
    for (const [turn, triples] of found.entries())
      for (const triple of triples)
        if (this.#relations.find(triple.relation) === undefined && !added.has(triple.relation))
          added.set(triple.relation, { ...triple, turn, sensitive: false }); // from turns that passed the gate
    const all = [...added.values()];
    for (let start = 0; start < all.length; start += MOST_DEFINED) {
      const isHeld = (item: { readonly sensitive: boolean }) => item.sensitive;
      const known = withholdSensitive(this.#relations.listFrequent(MOST_KNOWN), isHeld).sendable;
      const part = withholdSensitive(all.slice(start, start + MOST_DEFINED), isHeld).sendable;
      const answers = await requestDefinitions(known, part, endpoint);
      const names = [...known, ...part].map(({ relation }) => relation as string);
      for (const [i, { relation, turn }] of part.entries()) {
        const { definition, same } = answers[i]!;
        const named = same === null ? null : (this.#relations.find(names[same]!) as string);
        const defined = { relation, definition, same: named };
        this.#relations.bring(defined, false);
        brought[turn]!.push(defined);
      }
    }
    return brought;
  }

  /** The lines of turns, with the triples that a model gave. */
  async write(
    turns: readonly { readonly id: string; readonly title: string }[],
    given: readonly (readonly OpenTriple[])[],
    endpoint: Endpoint,
  ): Promise<ConceptLine[]> {
    const found = given.map((triples) => this.#normalise(triples));
    const brought = await this.#define(found, endpoint);
    return turns.map(({ id, title }, i) => {
      const concepts = new Set(listConcepts('', title, 'phrases').map((form) => this.#entities.take(form)));
      const take = (form: string) => {
        const canonical = this.#entities.take(form);
        concepts.add(canonical);
        return canonical;
      };
      const triples = found[i]!.map(({ subject, relation, object }) => ({
        subject: take(subject),
        relation: this.#relations.find(relation) as string,
        object: take(object),
      }));
      for (const { relation } of triples) this.#relations.count(relation);
      const relations = brought[i]!;
      return { id, concepts: [...concepts], triples, ...(relations.length > 0 && { relations }) };
    });
  }
}
