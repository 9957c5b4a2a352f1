import type { Endpoint } from '../../../core/service/endpoint-request.ts';
import { withholdSensitive } from '../../../core/service/sendable-text.ts';
import { normaliseForm } from '../../../model/text/concepts.ts';
import { listConcepts } from '../list-concepts.ts';
import { type BroughtRelation, CanonicalEntities, CanonicalRelations } from './canonical-forms.ts';
import type { ConceptLine } from './concept-file.ts';
import { type OpenTriple, requestDefinitions } from './extraction-requests.ts';

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
