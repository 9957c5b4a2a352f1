import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { viewRow } from '../../core/tensors/rows.ts';
import { parse } from '../../core/validation/validation.ts';
import { getOrCompute } from '../../core/values/once.ts';
import type { Encoder } from '../../model/encoder.ts';
import { joinWords, listWords } from '../../model/text/tokens.ts';

const entry = z.strictObject({
  /** Such as `customer:acme`. */
  id: z.string().min(1),
  name: z.string().min(1),
  aliases: z.array(z.string().min(1)).default([]),
});
const options = z.strictObject({
  /** Least similarity of a misspelt name: 1 - edits / the longer length. */
  fuzzyAbove: z.number().positive().max(1).default(0.8),
  /** Least cosine of a name that is matched by its vector. */
  cosineAbove: z.number().positive().max(1).default(0.75),
});

/** A thing or person that questions may name. */
export type EntityEntry = z.input<typeof entry>;
/** When a name is close enough. */
export type EntityOptions = z.input<typeof options>;

/** How a mention was matched: by the name, by another name, by a part or a misspelling of a name, by its vector. */
export type EntityMatch = 'exact' | 'alias' | 'fuzzy' | 'embedding';

/** An entity that a name or an alias names. */
export interface NamedEntity {
  readonly id: string;
  readonly match: 'exact' | 'alias';
  /** As the registry writes it. */
  readonly written: string;
}

/** Names with their vectors. */
export interface NameVectors {
  readonly encoder: Encoder;
  /** [names.length, dimension] unit vectors. */
  readonly vectors: Float32Array;
  readonly names: readonly string[];
}

/** The entities that questions may name, by id, name and aliases. Made by {@link createEntityRegistry}. */
export class EntityRegistry {
  readonly options: z.output<typeof options>;
  /** The names and aliases that are nearest by vectors; null without an encoder. */
  readonly vectors: NameVectors | null;
  /** The most words that a name has. */
  readonly longest: number;
  readonly #byName = new Map<string, NamedEntity[]>();
  /** Proper beginnings and ends of names. */
  readonly #byPart = new Map<string, Set<string>>();

  /** @internal */
  constructor(
    entries: readonly z.output<typeof entry>[],
    given: z.output<typeof options>,
    vectors: NameVectors | null,
  ) {
    this.options = given;
    this.vectors = vectors;
    let longest = 0;
    for (const { id, name, aliases } of entries)
      for (const [i, written] of [name, ...aliases].entries()) {
        const words = listWords(written);
        longest = Math.max(longest, words.length);
        const named = getOrCompute(this.#byName, joinWords(words), () => [] as NamedEntity[]);
        if (named.every((other) => other.id !== id)) named.push({ id, match: i === 0 ? 'exact' : 'alias', written });
        for (let cut = 1; cut < words.length; cut++)
          for (const part of [words.slice(0, cut), words.slice(cut)])
            getOrCompute(this.#byPart, joinWords(part), () => new Set<string>()).add(id);
      }
    this.longest = longest;
  }

  /** Names and aliases, as words in lower case. */
  get names(): Iterable<string> {
    return this.#byName.keys();
  }

  /** The entities of a name, as words in lower case. */
  find(name: string): readonly NamedEntity[] {
    return this.#byName.get(name) ?? [];
  }

  /** The ids of the entities whose name begins or ends with these words. */
  findByPart(words: string): readonly string[] {
    return [...(this.#byPart.get(words) ?? [])];
  }

  /** The cosine of a text with every name, [names.length]; empty without an encoder. */
  async computeCosines(text: string): Promise<Float32Array> {
    if (this.vectors === null) return new Float32Array(0);
    const { encoder, vectors, names } = this.vectors;
    const vector = await encoder.encode([text]);
    return Float32Array.from(names, (_, i) =>
      viewRow(vectors, encoder.dimension, i).reduce((sum, value, d) => sum + value * (vector[d] as number), 0),
    );
  }
}

/**
 * A registry of the entities that questions may name.
 *
 * @param encoder matches names by their vectors too, where letters match nothing; it belongs to the caller and must live as long as the registry.
 * @throws ConfigurationError for entries or options that cannot be.
 * @throws ValidationError for an id that occurs twice, and a name without letters.
 */
export async function createEntityRegistry(
  entries: readonly EntityEntry[],
  given: EntityOptions = {},
  encoder?: Encoder,
): Promise<EntityRegistry> {
  const read = parse(z.array(entry), entries, 'the entities');
  const ids = new Set<string>();
  for (const { id, name, aliases } of read) {
    if (ids.has(id)) throw new ValidationError(`entity occurs twice: ${id}; give each entity one entry`, { id });
    ids.add(id);
    const empty = [name, ...aliases].find((written) => listWords(written).length === 0);
    if (empty !== undefined)
      throw new ValidationError(`name of ${id} has no letters: ${JSON.stringify(empty)}; correct or remove it`, { id });
  }
  const settings = parse(options, given, 'the options of the entities');
  const bare = new EntityRegistry(read, settings, null);
  if (encoder === undefined) return bare;
  const names = [...bare.names];
  return new EntityRegistry(read, settings, { encoder, names, vectors: await encoder.encode(names) });
}
