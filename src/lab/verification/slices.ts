import { z } from 'zod';
import { parse } from '../../core/validation/validation.ts';
import { slicePolicySchema } from '../../kernel/policies/policy.ts';
import { formatCanonicalJson } from '../../kernel/signatures/canonical-json.ts';
import { computeFingerprint, sortIds } from '../../kernel/signatures/fingerprint.ts';
import { computeHmac } from '../../kernel/signatures/signature.ts';
import { walkSlice } from '../../kernel/slices/slice-walk.ts';
import { TurnGraph } from '../../kernel/slices/turn-graph.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { EXACT, type GoldenCase, type Part, type Topic } from './topic.ts';

const sliceCase = z.looseObject({
  turns: z.array(
    z.strictObject({ id: z.string(), parentId: z.string().nullable(), timestamp: z.number(), phase: z.string() }),
  ),
  policy: slicePolicySchema,
  anchorTurnId: z.string(),
  asOf: z.number().optional(),
  secretHex: z.string().optional(),
  expected: z.looseObject({ visited: z.array(z.tuple([z.string(), z.number()])) }),
});
type SliceCase = z.output<typeof sliceCase>;

/** The turns of a case as one conversation. */
function buildCorpus({ turns }: SliceCase): Corpus {
  const common = { conversationId: 'golden', author: null, channel: null, text: 'golden' };
  return new Corpus(turns.map(({ phase, ...turn }) => ({ ...common, ...turn, attributes: { phase } })));
}

/** [[id, priority]] in the order of the visits. */
function walk(golden: SliceCase): [string, number][] {
  const corpus = buildCorpus(golden);
  const cutoff = golden.asOf === undefined ? corpus.size : corpus.countEarlierTurns(golden.asOf);
  const anchors = [corpus.getPosition(golden.anchorTurnId)];
  const visited = walkSlice({ graph: new TurnGraph(corpus), policy: golden.policy, anchors, cutoff });
  return [...visited].map(([position, priority]) => [corpus.turns[position]?.id as string, priority]);
}

/** Slices of whole conversations, their canonical form, fingerprints and HMACs. */
export const slices: Topic = {
  name: 'slices',
  compute(input: GoldenCase): readonly Part[] {
    const golden = parse(sliceCase, input, input.name);
    const visited = walk(golden);
    const turnIds = sortIds(visited.map(([id]) => id));
    const { id, version } = golden.policy;
    const secret = Buffer.from(golden.secretHex ?? '', 'hex');
    const canonicalIds = formatCanonicalJson(turnIds);
    const bound = { policyRef: `${id}@${version}`, anchorTurnId: golden.anchorTurnId, turnIds };
    const canonicalBound = formatCanonicalJson(bound);
    const got: Record<string, unknown> = {
      visited,
      canonicalIds,
      fingerprint: computeFingerprint(turnIds),
      idsHmac: computeHmac(canonicalIds, secret),
      canonicalBound,
      boundHmac: computeHmac(canonicalBound, secret),
    };
    return Object.entries(golden.expected).map(([at, expected]) => ({ at, expected, got: got[at], tolerance: EXACT }));
  },
};

/** Slices of a moment: only turns strictly earlier exist. */
export const slicesAsOf: Topic = {
  name: 'slices-as-of',
  compute(input: GoldenCase): readonly Part[] {
    const golden = parse(sliceCase, input, input.name);
    return [{ at: 'visited', expected: golden.expected.visited, got: walk(golden), tolerance: EXACT }];
  },
};
