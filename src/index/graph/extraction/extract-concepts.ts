import { ValidationError } from '../../../core/errors/errors.ts';
import { createChatEndpoint } from '../../../core/service/chat-request.ts';
import type { Endpoint } from '../../../core/service/endpoint-request.ts';
import { type Cleared, withholdSensitive } from '../../../core/service/sendable-text.ts';
import { ignoreProgress, type StartProgress } from '../../../core/terminal/progress.ts';
import { normaliseForm } from '../../../model/text/concepts.ts';
import { isSensitive } from '../../../model/turns/memory-fields.ts';
import type { Turn } from '../../../model/turns/turn.ts';
import { ALIAS_ABOVE } from '../concept-graph.ts';
import { FormAliases } from '../form-aliases.ts';
import { listConcepts, readTitle } from '../graph-moment.ts';
import { type ConceptLine, listWithheldTurns } from './concept-file.ts';
import {
  type DefinedRelation,
  type ExtractionOptions,
  type OpenTriple,
  requestDefinitions,
  requestTriples,
} from './extraction-requests.ts';

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
class ConceptLineWriter {
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

/** How {@link extractConcepts} goes on, and how it reports what it does. */
export interface ExtractionContext {
  /** What an earlier call extracted from the same turns, in time order. */
  readonly begun?: readonly ConceptLine[];
  /** Turns with a line in the end, those of `begun` included; all by default. */
  readonly limit?: number;
  readonly progress?: StartProgress;
  readonly signal?: AbortSignal;
  /** Gets the lines of each request, so that an interruption loses none. */
  readonly onExtracted?: (lines: readonly ConceptLine[]) => void;
}

/** What was extracted. */
export interface ExtractedConcepts {
  /** Of all turns, those of `begun` included, in time order. */
  readonly lines: readonly ConceptLine[];
  /** Turns that were not sent, see {@link listWithheldTurns}. */
  readonly withheld: number;
  /** Triples that the model gave and that have a part without a letter or with too many. */
  readonly leftOut: number;
  /** `12 requests, 5231 tokens` */
  readonly use: string;
}

/** What is sent of a turn, and what its line needs. */
interface PlacedText {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly position: number;
}

/** The turns without a line, in time order. @throws ValidationError if lines are not those of the first turns that may be sent. */
function listOpenTurns(
  turns: readonly Cleared<PlacedText>[],
  positionOf: ReadonlyMap<string, number>,
  begun: readonly ConceptLine[],
) {
  let last = -1;
  for (const { id } of begun) {
    const position = positionOf.get(id) ?? -1;
    if (position <= last)
      throw new ValidationError(`turn of the begun file is unknown or not in time order: ${id}; name another file`, {
        id,
      });
    last = position;
  }
  const done = new Set(begun.map(({ id }) => id));
  const open = turns.filter(({ id }) => !done.has(id));
  const [first] = open;
  if (first === undefined || first.position > last) return open;
  throw new ValidationError(
    `turn has no line in the begun file, which has later turns: ${first.id}; name another file`,
    { id: first.id },
  );
}

/**
 * Extracts concepts from turns by asking a service with the interface of OpenAI, some turns a request, by POST to `/chat/completions`: open triples of every turn,
 * a definition of every new relation, and which earlier relation has its meaning. Entities become the earliest spelling. Retries are those of the client of
 * services. Source: zhang2024edc.
 *
 * A line depends on its turn, on the others of its request and on earlier turns. Turns that are sensitive, or have the text of one that is, are not sent.
 *
 * @param turns in time order.
 * @throws ValidationError for lines of other turns; UnavailableError for a service that does not answer, or not in the form that is asked for; the reason of the
 * signal.
 */
export async function extractConcepts(
  turns: readonly Turn[],
  options: ExtractionOptions,
  {
    begun = [],
    limit = Number.POSITIVE_INFINITY,
    progress = ignoreProgress,
    signal,
    onExtracted,
  }: ExtractionContext = {},
): Promise<ExtractedConcepts> {
  const { model, batchSize } = options;
  const endpoint = createChatEndpoint(`extraction by ${model}`, options, signal);
  const held = listWithheldTurns(turns);
  const texts = turns.map((turn, position) => ({
    id: turn.id,
    title: readTitle(turn) ?? '',
    text: turn.text,
    position,
  }));
  const { sendable, withheld } = withholdSensitive(texts, ({ id }) => held.has(id));
  const positionOf = new Map(turns.map(({ id }, position) => [id, position]));
  const open = listOpenTurns(sendable, positionOf, begun).slice(0, Math.max(0, limit - begun.length));
  const writer = new ConceptLineWriter();
  for (const line of begun) writer.replay(line, isSensitive(turns[positionOf.get(line.id)!]!));
  const stage = progress(`ask ${model}`, open.length);
  const lines = [...begun];
  for (let start = 0; start < open.length; start += batchSize) {
    const batch = open.slice(start, start + batchSize);
    const written = await writer.write(batch, await requestTriples(batch, endpoint), endpoint);
    lines.push(...written);
    onExtracted?.(written);
    stage.update(start + batch.length);
  }
  stage.finish(endpoint.ledger.describe());
  return { lines, withheld: withheld.length, leftOut: writer.leftOut, use: endpoint.ledger.describe() };
}
