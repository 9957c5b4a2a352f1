import { z } from 'zod';
import { check, findNearestWord, parse } from '../../core/validation/validation.ts';
import { indexOptions } from '../../index/registry.ts';
import type { Bm25IndexOptions } from '../../index/words/bm25-options.ts';
import { sliceOptions } from '../../kernel/slices/slice-options.ts';
import { propagationOptions } from '../../ops/attention/options.ts';
import { PROPAGATION_PRESETS } from '../../ops/attention/presets.ts';
import { COORDINATES } from '../../ops/trajectory/coordinate-names.ts';
import { selectionOptions } from '../rerank/registry.ts';
import { attentionOptions } from '../signals/attention-options.ts';
import { listSignalNames, scoringOptions } from '../signals/bank/options.ts';
import { boostOptions } from '../signals/boost-options.ts';
import { curationArmOptions } from '../signals/curation-options.ts';
import { decayOptions } from '../signals/decay.ts';
import { ADDED_SIGNALS } from '../signals/signal.ts';
import { strategyOptions } from '../signals/strategy-options.ts';
import { trajectoryOptions } from '../signals/trajectory-options.ts';
import { controlOptions } from '../signals/worlds/control-options.ts';
import { filterOptions } from './filter-options.ts';
import {
  fusesLists,
  listSignalIndexes,
  type RelevanceSignal,
  relevanceFusionOptions,
  relevanceSignal,
} from './relevance.ts';

export type { Bm25IndexOptions, RelevanceSignal };

const propagationChoice = z.union([
  z
    .strictObject({ preset: z.enum(Object.keys(PROPAGATION_PRESETS) as (keyof typeof PROPAGATION_PRESETS)[]) })
    .transform(({ preset }) => PROPAGATION_PRESETS[preset]),
  propagationOptions,
]);

/** Everything that decides how one arm ranks: its candidate sources and the chain of its scores. */
export const retrieverOptions = z.strictObject({
  /** The pool is the union of what these find. */
  candidates: z.array(indexOptions).min(1),
  relevance: z.strictObject({
    signals: z.array(relevanceSignal).min(1),
    /** Signal of a plugin, or `strategy`, -> its options. */
    options: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
    /** Only with several signals. */
    fusion: relevanceFusionOptions.prefault({ method: 'convex' }),
  }),
  /** Leaves out turns of another channel than the query's. */
  sameChannel: z.boolean().default(false),
  /** What the queries may see, besides earlier turns; absent in a resolved config that has none, so that its hash stays. */
  filter: filterOptions.nullable().optional(),
  /** What a kernel signs that the queries may see; absent in a resolved config that has none, so that its hash stays. */
  slice: sliceOptions.nullable().optional(),
  /** Multiplies relevance by factors of attributes; absent in a resolved config that has none, so that its hash stays. */
  boosts: boostOptions.nullable().optional(),
  /** Multiplies relevance by what curation leaves of a turn; absent in a resolved config that has none, so that its hash stays. */
  curation: curationArmOptions.nullable().optional(),
  decay: decayOptions.nullable().default(null),
  trajectory: trajectoryOptions.nullable().default(null),
  attention: attentionOptions.nullable().default(null),
  propagation: propagationChoice.nullable().default(null),
  selection: selectionOptions.nullable().default(null),
  /** Scores candidates by a mix of signals, in the place of relevance and whatever would be done to it. */
  scoring: scoringOptions.nullable().default(null),
  /** Destroys a part of the structure, to see what the arm owes to it. */
  control: controlOptions.nullable().default(null),
});
/**
 * The checked options of one arm: candidate sources, signals of relevance and their fusion, then the optional stages. By default every optional stage is
 * null, which leaves it out.
 */
export type RetrieverOptions = z.output<typeof retrieverOptions>;
/** How an arm ranks, as it is written: keys of a form; or steps, and then it has their keys and none of the form but `control`. */
export type RankOptions = RetrieverOptions & { readonly steps?: readonly string[] };

/** The options as written: those with a default may be left out. */
export type RetrieverInput = z.input<typeof retrieverOptions>;

/** The text of the filter that the sources of an arm apply; null for none. */
export function findSourceFilter({ filter }: Pick<RetrieverOptions, 'filter'>): string | null {
  return filter?.apply === 'before' ? filter.where : null;
}

type Fault = (path: PropertyKey[], message: string) => void;

/** The sources whose lists are fused, and weights of the signals that there are. */
function assertFusion({ candidates, relevance: { signals, fusion } }: RetrieverOptions, fault: Fault): void {
  if (fusion.method === 'convex' && fusion.weights === undefined && signals.join() !== 'cosine,bm25')
    fault(
      ['relevance', 'signals'],
      '[cosine, bm25], the order that the convex combination asks for, or weights of the fusion by name',
    );
  if (fusesLists(fusion))
    for (const signal of signals) {
      const sources = listSignalIndexes(signal);
      if (candidates.some(({ index }) => sources.includes(index))) continue;
      const pool = fusion.method === 'rrf' ? 'pool-rrf' : 'pool-combsum';
      fault(
        ['candidates'],
        `a source with index ${sources.join(' or ')}, whose list ${fusion.method} fuses as ${signal}; or fusion method ${pool}, which needs no lists`,
      );
    }
  if (!('weights' in fusion) || fusion.weights === undefined) return;
  if (typeof fusion.weights === 'string') {
    if (signals.length !== 2)
      fault(['relevance', 'fusion', 'weights'], `the weight of each of ${signals.length} signals; a preset has two`);
    return;
  }
  const { weights } = fusion;
  for (const name of Object.keys(weights))
    if (!(signals as readonly string[]).includes(name))
      fault(['relevance', 'fusion', 'weights', name], `a signal of the arm (${signals.join(', ')})`);
  const needsAll = fusion.method === 'weighted' || fusion.method === 'convex';
  const missing = needsAll ? signals.filter((signal) => weights[signal] === undefined) : [];
  if (missing.length > 0)
    fault(['relevance', 'fusion', 'weights'], `a weight of each signal, also of ${missing.join(', ')}`);
}

/** Options of signals that the arm has and that take options. */
function assertSignalOptions({ relevance: { signals, options = {} } }: RetrieverOptions, fault: Fault): void {
  for (const [name, given] of Object.entries(options)) {
    const schema = name === 'strategy' ? strategyOptions : ADDED_SIGNALS.find(name)?.options;
    if (schema === undefined || !(signals as readonly string[]).includes(name)) {
      fault(['relevance', 'options', name], 'a signal of the arm that a plugin defines, or strategy');
      continue;
    }
    const result = check(schema, given);
    for (const { path, expected } of 'faults' in result ? result.faults : [])
      fault(['relevance', 'options', name, path], expected);
  }
}

/** A mix of signals that the bank has, and nothing done by hand beside it. */
function assertScoring(
  { scoring, boosts = null, curation = null, decay, trajectory, attention }: RetrieverOptions,
  fault: Fault,
): void {
  if (scoring === null) return;
  for (const [name, value] of Object.entries({ boosts, curation, decay, trajectory, attention }))
    if (value !== null) fault([name], 'null, since scoring takes its place');
  const known = listSignalNames(scoring.signals);
  for (const signal of Object.keys(scoring.weights)) {
    if (known.includes(signal)) continue;
    const nearest = findNearestWord(signal, known);
    fault(['scoring', 'weights', signal], `a signal of the bank${nearest === undefined ? '' : `, such as ${nearest}`}`);
  }
}

/** What the shape of the options cannot say: which signal needs which source, and what a fusion asks of the signals. */
export function assertRetriever(options: RetrieverOptions, context: z.core.$RefinementCtx): void {
  const { candidates, relevance, propagation, trajectory } = options;
  const addOptionIssue = (path: PropertyKey[], message: string) => context.addIssue({ code: 'custom', path, message });
  const has = (index: string) => candidates.some((source) => source.index === index);
  const { signals } = relevance;
  if (signals.includes('bm25') && !has('bm25'))
    addOptionIssue(['candidates'], 'a source with index bm25, since bm25 is a signal');
  if (signals.includes('bm25') && candidates.filter(({ index }) => index === 'bm25').length > 1)
    addOptionIssue(['candidates'], 'one source with index bm25, whose options score the signal');
  if (signals.includes('run') && candidates.filter(({ index }) => index === 'run').length !== 1)
    addOptionIssue(
      ['candidates'],
      'one source with index run, whose scores are the signal run; ragpp fuse makes one of several',
    );
  if (signals.includes('graph') && !has('graph'))
    addOptionIssue(['candidates'], 'a source with index graph, whose scores are the signal graph');
  if (candidates.filter(({ index }) => index === 'graph').length > 1)
    addOptionIssue(['candidates'], 'one source with index graph at most');
  if (propagation !== null && !has('flat'))
    addOptionIssue(['candidates'], 'a source with index flat, which alone knows propagated embeddings');
  if (new Set(signals).size < signals.length) addOptionIssue(['relevance', 'signals'], 'each signal once');
  if (trajectory !== null) {
    const known: readonly string[] = COORDINATES[trajectory.dimensions];
    for (const name of Object.keys(trajectory.weights))
      if (!known.includes(name))
        addOptionIssue(
          ['trajectory', 'weights', name],
          `a coordinate of ${trajectory.dimensions} (${known.join(', ')})`,
        );
  }
  assertSignalOptions(options, addOptionIssue);
  assertScoring(options, addOptionIssue);
  if (signals.length > 1) assertFusion(options, addOptionIssue);
}

const checkedRetriever = retrieverOptions.superRefine(assertRetriever);

/** What an arm of an experiment has besides its options: nothing that a ranking depends on, or what its workspace was made with. */
const ARM_KEYS: readonly string[] = [
  'name',
  'description',
  'extends',
  'tune',
  'levels',
  'differences',
  'embedding',
  'seed',
  'repeats',
];

/**
 * The options of a retriever or of an arm, checked and with defaults filled in, for callers that no compiler checks.
 *
 * @throws ConfigurationError with every fault.
 */
export function checkRetrieverOptions(options: RetrieverOptions): RetrieverOptions {
  const isObject = options !== null && typeof options === 'object';
  const own = isObject
    ? Object.fromEntries(Object.entries(options).filter(([key]) => !ARM_KEYS.includes(key)))
    : options;
  return parse(checkedRetriever, own, 'the options of a retriever');
}
