import { ALIAS_ABOVE } from '../concept-graph.ts';
import { FormAliases } from '../form-aliases.ts';
import type { DefinedRelation } from './extraction-requests.ts';

/**
 * One form for the spellings of an entity. Forms arrive in the order of time, and a form becomes that of the earliest canonical form that it is a spelling of
 * ({@link FormAliases}), or canonical itself. What a form becomes never depends on later ones.
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

/** A relation as a turn brought it: with its definition, and the canonical relation that has its meaning, null if it is one itself. */
export interface BroughtRelation extends DefinedRelation {
  readonly same: string | null;
}

/** A canonical relation. */
export interface CanonicalRelation extends DefinedRelation {
  /** Whether the turn that brought it is now sensitive. */
  readonly sensitive: boolean;
}

/** One name for the relations of one meaning, in the order of time: a relation becomes an earlier one that a model named, or is canonical itself. */
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
