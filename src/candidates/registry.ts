import type { z } from 'zod';
import { type Definition, type Lazy, type NamingOptions, OptionsRegistry } from '../core/registry.ts';
import { parse } from '../core/validation.ts';
import type { CandidateIndex } from '../model/candidates.ts';
import { bm25 } from './bm25-options.ts';
import { flat } from './flat-options.ts';
import { hnsw } from './hnsw-options.ts';
import type { CreateIndex, IndexContext } from './index-definition.ts';
import { NewestFirstIndex, newest } from './newest-first.ts';

function member<S extends NamingOptions<'index'>>(
  definition: Definition<'index', S>,
  load: () => Promise<CreateIndex<z.output<S>>>,
): Lazy<Definition<'index', S>, CreateIndex<z.output<S>>> {
  return { ...definition, load };
}

/** Every index: to add one takes its file and a line here. */
export const INDEXES = new OptionsRegistry('index', [
  member(flat, async () => (await import('./flat.ts')).createFlat),
  member(hnsw, async () => (await import('./hnsw.ts')).createHnsw),
  member(bm25, async () => (await import('./bm25.ts')).createBm25),
  member(
    newest,
    async () =>
      (_, { corpus }) =>
        new NewestFirstIndex(corpus.size),
  ),
]);

/** The options of every index, distinguished by `index`; unknown keys are refused. */
export const indexOptions = INDEXES.options;
export type IndexOptions = z.output<typeof indexOptions>;

/**
 * Imports the index that the options name.
 *
 * @returns what makes it, over as many corpora as are needed.
 * @throws ConfigurationError for an unknown index and for options that are none of it.
 */
export async function loadIndex(written: IndexOptions): Promise<(context: IndexContext) => CandidateIndex> {
  const options = parse(indexOptions, written, 'the options of an index');
  const create = (await INDEXES.get(options.index).load()) as CreateIndex<IndexOptions>;
  return (context) => create(options, context);
}

/**
 * The index that the options name, over the whole corpus; what a query may see of it is decided by its cutoff.
 *
 * @throws ConfigurationError as {@link loadIndex} does.
 */
export async function createIndex(options: IndexOptions, context: IndexContext): Promise<CandidateIndex> {
  return (await loadIndex(options))(context);
}
