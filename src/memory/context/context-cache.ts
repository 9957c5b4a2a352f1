import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { parse } from '../../core/validation/validation.ts';
import { freezeDeeply } from '../../core/values/once.ts';
import {
  type AssembledContext,
  type AssemblyInput,
  type AssemblySources,
  assemble,
  assemblyOptionsSchema,
  openSources,
} from './assemble.ts';
import { formatPrompt } from './prompt.ts';

/** How often a cache knew a context, and how many it keeps. */
export interface ContextCacheUse {
  readonly hits: number;
  readonly misses: number;
  readonly size: number;
}

const entries = z.int('a whole number of contexts').min(1);

/**
 * The contexts that were asked for last, of one pair of sources. A context is found by its question, its options
 * and the versions of the corpus and of the sources, so that a change makes every earlier context unreachable. The
 * least recently used one makes place; no clock is read. Ages in the prompt are always those of the question's
 * moment. A context with a source that failed is not kept, nor is an error, nor the text of a question: its place
 * is the hash of the key.
 */
export class ContextCache {
  readonly #sources: AssemblySources;
  readonly #kept: LRUCache<string, Omit<AssembledContext, 'prompt'>>;
  #hits = 0;
  #misses = 0;

  /**
   * @param maxEntries contexts that are kept, a whole number from 1.
   * @throws ConfigurationError for another number; ValidationError for sources with a database, whose records change without a version.
   */
  constructor(sources: AssemblySources, maxEntries = 1000) {
    if (sources.domain !== undefined)
      throw new ValidationError(
        'records of a database are live, and no cache keeps them; assemble without the cache, or leave domain out',
      );
    this.#sources = sources;
    this.#kept = new LRUCache({ max: parse(entries, maxEntries, 'size of the cache of contexts') });
  }

  get use(): ContextCacheUse {
    return { hits: this.#hits, misses: this.#misses, size: this.#kept.size };
  }

  /**
   * {@link assemble}, or what it gave for the same question, options and version.
   *
   * @param version of the corpus, such as `dataset.hash`, with everything else that the sources depend on: who asks, or the day of a question about yesterday.
   * @throws as `assemble` does.
   */
  async assemble(
    query: string,
    input: AssemblyInput,
    { now, version, signal }: { readonly now: number; readonly version: string; readonly signal?: AbortSignal },
  ): Promise<AssembledContext> {
    signal?.throwIfAborted();
    const options = parse(assemblyOptionsSchema, input, 'options of a context');
    const { documents, memories, facts } = await openSources(this.#sources, options.timeZone ?? 'UTC');
    const versions = [version, ...[documents, memories, facts].map((source) => source?.readVersion?.() ?? null)];
    const key = computeHash({ query, options, versions });
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      this.#hits++;
      return { prompt: formatPrompt(query, kept.items, { now, timeZone: kept.datesIn, cites: options.cite }), ...kept };
    }
    const made = await assemble(query, options, this.#sources, { now, ...(signal && { signal }) });
    this.#misses++;
    const { prompt, ...rest } = made;
    // A copy: the items of a source stay the source's own.
    const context = freezeDeeply(structuredClone(rest));
    if (context.sources.every(({ fault }) => fault === null)) this.#kept.set(key, context);
    return { prompt, ...context };
  }
}
