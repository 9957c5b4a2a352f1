import { z } from 'zod';

const weight = z.number().min(0).max(1);

/** How a turn is joined to its neighbours: first those of its own conversation, then those that may lead to another one. */
export const RELATIONS = Object.freeze(['parent', 'child', 'sibling', 'channel', 'author', 'reference'] as const);
export type Relation = (typeof RELATIONS)[number];

/** What an admissible slice is. Weights are at most 1, so that no path leads to a higher priority than its beginning. */
export const slicePolicySchema = z.strictObject({
  id: z.string().regex(/^[\w.-]{1,64}$/, 'a name of letters, digits, ., _ and -'),
  version: z.int().min(1).default(1),
  /** The most turns of a slice. */
  maxNodes: z.int().min(1).max(1_000_000).default(250),
  /** A turn is reached with a priority above this. */
  minPriority: z.number().min(0).max(1).default(0.01),
  /** A factor of each step. */
  distanceDecay: weight.default(0.9),
  /** A factor of a step by each relation; 0 leaves the relation out. */
  relationWeight: z
    .strictObject({
      parent: weight.default(1),
      child: weight.default(0.85),
      sibling: weight.default(0.6),
      /** To the turns before and after it in the same channel, of any conversation. */
      channel: weight.default(0),
      /** To the turns before and after it of the same author, of any conversation. */
      author: weight.default(0),
      /** To the turns whose ids its attribute `references` lists, and to those that list it. */
      reference: weight.default(0),
    })
    .prefault({}),
  /** A factor of each turn that is reached, by its attribute `phase`. */
  phaseWeight: z.record(z.string(), weight).default({}),
  /** The factor of a turn without a phase, or of one that `phaseWeight` does not name. */
  otherPhaseWeight: weight.default(1),
  /** Where the walk of a query starts: at the turn that it names, or at the newest turn that its conversation or its author has at that moment. */
  anchor: z.enum(['given', 'newest-of-conversation', 'newest-of-author']).default('given'),
  /** What a query without an anchor sees of the turns of its moment: it is refused, or sees nothing, its channel, or all. */
  unanchored: z.enum(['refuse', 'nothing', 'channel', 'all']).default('refuse'),
  /** Whole conversations first, then turns around the first results, within `maxNodes` together; null: one slice. */
  hierarchy: z
    .strictObject({
      /** The share of `maxNodes` that whole conversations may take. */
      coarseShare: z.number().gt(0).lt(1).default(0.5),
      /** The number of first results that the second slice starts at. */
      around: z.int().min(1).max(100).default(5),
    })
    .nullable()
    .default(null),
});

/** What an admissible slice is, see {@link slicePolicySchema}. */
export type SlicePolicy = z.output<typeof slicePolicySchema>;
/** A policy as written: what has a default may be left out. */
export type SlicePolicyInput = z.input<typeof slicePolicySchema>;
