import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { viewRow } from '../../core/tensors/rows.ts';
import { parse } from '../../core/validation/validation.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { propagationOptions } from '../../ops/attention/options.ts';
import { type PropagatedVersions, propagateVersions } from '../../ops/attention/versioned-propagation.ts';
import { type GoldenCase, type Part, TENSOR, type Topic } from './topic.ts';

const vectors = z.array(z.array(z.number()));
const propagationCase = z.looseObject({
  /** [N] the conversation of each turn, in the order of time. */
  conversations: z.array(z.string()).min(1),
  /** [N, D] */
  embeddings: vectors,
  cutoffs: z.array(z.int()),
  options: propagationOptions,
  /** By cutoff c, [c, D]. */
  expected: z.record(z.string(), vectors),
});

/** Far below the tolerance of the topic: every turn that a newcomer reaches is computed again. */
const TOLERANCE = 1e-9;

function buildCorpus(conversations: readonly string[]): Corpus {
  const common = { parentId: null, author: null, channel: null, text: 'golden', attributes: {} };
  const turns = conversations.map((conversationId, i) => ({ ...common, conversationId, timestamp: i }));
  return new Corpus(turns.map((turn, i) => ({ ...turn, id: `t${String(i).padStart(4, '0')}` })));
}

/** [cutoff, D] the version of each turn that a query at a cutoff searches. */
function listVersionsAt(versions: PropagatedVersions, cutoff: number, dimension: number): number[][] {
  const rows: number[][] = [];
  for (const [version, position] of versions.positions.entries()) {
    const { validFrom, validTo } = versions;
    if (cutoff < (validFrom[version] as number) || cutoff >= (validTo[version] as number)) continue;
    if (rows[position] !== undefined)
      throw new ValidationError(`two versions of turn ${position} are valid at cutoff ${cutoff}; correct validTo`);
    rows[position] = [...viewRow(versions.vectors, dimension, version)];
  }
  return rows;
}

/** Propagated embeddings that a query may search, of the turns and conversations as they were at its moment. */
export const propagationAsOf: Topic = {
  name: 'propagation-as-of',
  async compute(input: GoldenCase): Promise<readonly Part[]> {
    const { conversations, embeddings, cutoffs, options, expected } = parse(propagationCase, input, input.name);
    const dimension = (embeddings[0] as number[]).length;
    const corpus = buildCorpus(conversations);
    const settings = { tolerance: TOLERANCE };
    const flat = Float32Array.from(embeddings.flat());
    const versions = await propagateVersions(corpus, flat, Int32Array.from(cutoffs), options, settings);
    return cutoffs.map((cutoff) => ({
      at: `cutoff ${cutoff}`,
      expected: expected[cutoff],
      got: listVersionsAt(versions, cutoff, dimension),
      tolerance: TENSOR,
    }));
  },
};
