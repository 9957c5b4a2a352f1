import type { z } from 'zod';
import { ValidationError } from '../core/errors/errors.ts';
import { loadOnBackend } from '../core/tensors/backend.ts';
import { type Lazy, type NamingOptions, OptionsRegistry } from '../core/validation/registry.ts';
import { parse } from '../core/validation/validation.ts';
import type { CandidateIndex } from '../model/candidates.ts';
import type { CreateIndex, IndexContext, IndexDefinition, IndexReads } from './candidates/index-definition.ts';
import { NewestFirstIndex, newest } from './candidates/top-selection.ts';
import { late } from './late/late-options.ts';
import { domain, entities, facts, procedural, semantic, summaries, time } from './memories/memory-options.ts';
import { run } from './runs/run-options.ts';
import { VECTOR_SOURCES } from './vectors/registry.ts';
import { graph } from './walks/graph-options.ts';
import { bm25 } from './words/bm25.ts';

function member<S extends NamingOptions<'index'>>(
  definition: IndexDefinition<S>,
  load: () => Promise<CreateIndex<z.output<S>>>,
): Lazy<IndexDefinition<S>, CreateIndex<z.output<S>>> {
  return { ...definition, load };
}

/**
 * Every index: to add one takes its file and a line here; a kind of vector index has its line in vectors/registry.ts.
 */
export const INDEXES = new OptionsRegistry('index', [
  ...VECTOR_SOURCES,
  member(bm25, async () => (await import('./words/bm25.ts')).createBm25),
  member(
    newest,
    async () =>
      (_, { corpus }) =>
        new NewestFirstIndex(corpus.size),
  ),
  member(graph, async () => (await import('./walks/graph-index.ts')).createGraphIndex),
  member(late, () => loadOnBackend(async () => (await import('./late/late.ts')).createLate)),
  member(semantic, () => loadOnBackend(async () => (await import('./memories/listed-memories.ts')).createSemantic)),
  member(entities, async () => (await import('./memories/listed-memories.ts')).createEntities),
  member(time, async () => (await import('./memories/listed-memories.ts')).createTime),
  member(procedural, () => loadOnBackend(async () => (await import('./memories/listed-memories.ts')).createProcedural)),
  member(summaries, async () => (await import('./memories/listed-memories.ts')).createSummaries),
  member(facts, async () => (await import('./memories/listed-memories.ts')).createFacts),
  member(domain, async () => (await import('./memories/listed-memories.ts')).createDomain),
  member(run, async () => (await import('./runs/run-index.ts')).createRunIndex),
]);

/** The options of every index, distinguished by `index`; unknown keys are refused. */
export const indexOptions = INDEXES.options;
/** The options of one candidate index, chosen by `index`, with every default written out. */
export type IndexOptions = z.output<typeof indexOptions>;
/** The options as written: those with a default may be left out. */
export type IndexInput = z.input<typeof indexOptions>;

function parseIndexOptions(written: IndexInput): IndexOptions {
  return parse(indexOptions, written, 'the options of an index');
}

/**
 * Imports the index that the options name.
 *
 * @returns what makes it, over as many corpora as are needed.
 * @throws ConfigurationError for an unknown index and for options that are none of it.
 */
export async function loadIndex(written: IndexInput): Promise<(context: IndexContext) => CandidateIndex> {
  const options = parseIndexOptions(written);
  const create = (await INDEXES.get(options.index).load()) as CreateIndex<IndexOptions>;
  return (context) => create(options, context);
}

/** What the results of the index that the options name depend on. */
export function listIndexReads(options: IndexOptions): IndexReads {
  const { reads } = INDEXES.get(options.index) as IndexDefinition;
  return typeof reads === 'function' ? reads(options) : reads;
}

/** What an index is made over. */
export type IndexInputs = Pick<IndexContext, 'corpus'> & Partial<IndexContext>;

/** @throws ValidationError for an index that compares vectors and gets none. */
function completeContext(options: IndexOptions, given: IndexInputs): IndexContext {
  const { corpus, vectors = new Float32Array(0), seed = 1, concepts, conceptVectors, tokens, entities: named } = given;
  if (listIndexReads(options).includes('vectors') && given.vectors === undefined)
    throw new ValidationError(
      `index ${options.index} compares vectors: none given; pass vectors, row-major [turns, dimension]`,
    );
  const dimension = given.dimension ?? vectors.length / Math.max(1, corpus.size);
  if (vectors.length !== 0 && vectors.length !== dimension * corpus.size)
    throw new ValidationError(
      `vectors do not fit ${corpus.size} turns: ${vectors.length} numbers; pass one row for each turn`,
    );
  const optional = {
    ...(concepts && { concepts }),
    ...(conceptVectors && { conceptVectors }),
    ...(tokens && { tokens }),
  };
  return { corpus, vectors, dimension, seed, ...optional, ...(named && { entities: named }) };
}

/**
 * The index that the options name, over the whole corpus; what a query may see of it is decided by its cutoff.
 *
 * @param given the corpus; the vectors of its turns, for an index that compares vectors; the seed, by default 1.
 * @throws ConfigurationError as {@link loadIndex} does; ValidationError for missing vectors.
 */
export async function createIndex(written: IndexInput, given: IndexInputs): Promise<CandidateIndex> {
  const create = await loadIndex(written);
  return create(completeContext(parseIndexOptions(written), given));
}
