import { z } from 'zod';
import { computeHash } from '../../core/hash/hash.ts';
import { activeBackend } from '../../core/tensors/active-backend.ts';
import { getOrCompute, once } from '../../core/values/once.ts';
import type { EncoderOptions } from '../../index/encoders/registry.ts';
import { AdmissibilityError } from '../../kernel/signatures/admissibility-error.ts';
import type { SliceOptions, SliceSource, SliceTrust } from '../../kernel/slices/slice-options.ts';
import type { Query } from '../../model/dataset.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { Setting, StageUse } from './signal.ts';
import type { Stage } from './stage.ts';
import { type ControlOptions, disturbs, type WorldPart } from './worlds/world-parts.ts';

/**
 * What a name of a signal looks like: `family[.variant][@context]`, or two of these joined by `*` for their product.
 * The family is what is measured, the variant how (by which encoder, over which document, with which half-life), the
 * context of which other turns, or relative to what.
 */
const PART = '[a-z0-9]+(?:-[a-z0-9]+)*';
const FACTOR = `${PART}(?:\\.${PART})?(?:@${PART})?`;
const NAME = new RegExp(`^${FACTOR}(?:\\*${FACTOR})?$`);

export function isSignalName(name: string): boolean {
  return NAME.test(name);
}

/** A name of code as a part of a signal's: `siblingOrder` as `sibling-order`. */
export function toSignalPart(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

const FORMER_HALF_LIVES = ['1h', '6h', '24h', '96h', '720h'];

/** Names of weight files and configs from before the grammar. */
const FORMER_FACTORS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'bm25-author': 'bm25.author',
    'bm25-window-1': 'bm25.window-1',
    'bm25-window-2': 'bm25.window-2',
    'bm25-session': 'bm25.session',
    'coverage-window-1': 'coverage.window-1',
    'coverage-window-2': 'coverage.window-2',
    'coverage-session': 'coverage.session',
    length: 'form.length',
    question: 'form.question',
    answer: 'form.answer',
    number: 'form.number',
    times: 'form.times',
    names: 'form.names',
    'time asked': 'form.times@asked',
    'number asked': 'form.number@asked',
    'name asked': 'form.names@asked',
    entities: 'coverage.entities',
    'age rank': 'rank.age',
    newest: 'rank.newest',
    place: 'recency',
    'time named': 'time.named',
    depth: 'thread.depth',
    root: 'thread.root',
    children: 'thread.children',
    leaf: 'thread.leaf',
    last: 'thread.last',
    'thread size': 'thread.size',
    'thread quiet': 'age@thread',
    'behind last': 'rank.age@thread',
    'session begin': 'session.begin',
    'author named': 'author.named',
    'author alone named': 'author.only-named',
    'own turn': 'author.asker',
    'spoke in thread': 'author.asker@thread',
    'answers own turn': 'author.asker@parent',
    'already answered': 'author.asker@children',
    'names asker': 'asker.named',
    speakers: 'thread.speakers',
    'newest session': 'rank.newest@session',
    'session rank': 'rank.age@session',
    'newest in channel': 'rank.newest@channel',
    'channel rank': 'rank.age@channel',
    'newest session in channel': 'rank.newest@session-channel',
    'session rank in channel': 'rank.age@session-channel',
    'trajectory-3': 'trajectory.3',
    'trajectory-5': 'trajectory.5',
    'trajectory-7': 'trajectory.7',
    rcp: 'attention.rcp',
    ircp: 'attention.ircp',
    tpo: 'attention.tpo',
    'rcp-additive': 'attention.rcp-additive',
    neighbour: 'relevance@neighbour',
    session: 'relevance@session',
    'age-hours': 'age.hours',
    'ring-distance': 'ring.distance',
    'ahead-count': 'ahead.count',
    ...Object.fromEntries(FORMER_HALF_LIVES.map((halfLife) => [`decay-${halfLife}`, `decay.${halfLife}`])),
    ...Object.fromEntries(
      FORMER_HALF_LIVES.map((halfLife) => [`thread-decay-${halfLife}`, `decay.${halfLife}@thread`]),
    ),
  }),
);

/** Former endings of the names of scores, with those of today. */
const FORMER_SPREAD: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ':share': '@share',
    ':-2': '@previous-2',
    ':-1': '@previous',
    ':+1': '@next',
    ':+2': '@next-2',
    ':session-best': '@session-best',
    ':session-mean': '@session-mean',
  }),
);

/** Former beginnings of the names of coordinates, steps and encoders. */
const FORMER_PREFIXES: readonly string[] = ['difference ', 'coordinate:', 'ahead:', 'cosine-'];

function updateFactor(name: string): string {
  const [, root = name, suffix = ''] = /^(.+?)(:[-+a-z0-9]+)$/.exec(name) ?? [];
  const spread = FORMER_SPREAD.get(suffix);
  if (spread !== undefined) return updateFactor(root) + spread;
  const prefix = FORMER_PREFIXES.find((start) => name.startsWith(start));
  if (prefix !== undefined) return `${prefix.slice(0, -1)}.${toSignalPart(name.slice(prefix.length))}`;
  return FORMER_FACTORS.get(name) ?? name;
}

/** The name of a signal as it is today; any other text stays as it is. */
export function updateSignalName(name: string): string {
  return name.split(' × ').map(updateFactor).join('*');
}

/** A signal by its name; a name from before the grammar is read as today's. */
export const signalName = z.string().overwrite(updateSignalName);

function updateKeys(weights: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(weights).map(([name, weight]) => [updateSignalName(name), weight]));
}

/** A number for each signal; one named twice, by both of its names, is an error. */
export const signalNumbers = z
  .record(z.string(), z.number())
  .superRefine((weights, context) => {
    const names = Object.keys(weights);
    const twice = names.find((name) => updateSignalName(name) !== name && names.includes(updateSignalName(name)));
    if (twice !== undefined)
      context.addIssue({
        code: 'custom',
        path: [twice],
        message: `each signal once: ${twice} is a former name of ${updateSignalName(twice)}`,
      });
  })
  .overwrite(updateKeys);

/** What stages depend on besides the data: code and encoders. */
export interface WorkspaceIdentity {
  /** Version of the code, of all of it or by the module that defines a stage, and of the packages that it computes with. */
  readonly code: string | ((module: string) => string);
  /** Of the dataset's content. */
  readonly data: string;
  /** Of the encoder: its options, what it was fitted on, where it computes. */
  readonly encoder: Readonly<Record<string, unknown>>;
  /** The encoder's, for its vectors of tokens where these are read alone. */
  readonly tokenEncoder?: Readonly<Record<string, unknown>>;
  /** Of any other encoder that may be asked for. */
  readonly encoderOf?: (options: EncoderOptions) => Readonly<Record<string, unknown>>;
}

/** What stages are made from besides other stages. */
export interface StageRoots {
  readonly identity: WorkspaceIdentity;
  readonly corpus: Corpus;
  readonly queries: readonly Query[];
  readonly seed: number;
  /** Where slices come from; without it there are none. */
  readonly slices?: SliceSource;
}

/** Hashes that all views of a plan share. */
interface Roots {
  /** The backend at the first key: a workspace may be made before a backend is active. */
  readonly getBackend: () => string;
  readonly turns: string;
  readonly queries: string;
  /** Only vectors depend on it: an encoder that nothing reads is not identified. */
  readonly getEncoder: () => string;
  readonly getTokenEncoder: () => string;
  /** By name, options and inputs as they are written: a look-up costs a tenth of a hash, and a plan asks for the same stages thousands of times. */
  readonly known: Map<string, Stage>;
}

/**
 * The stages of a workspace by their options, with the keys that their results are kept under. Nothing is computed for a key, so a plan can be made of what has
 * never run.
 */
export class Plan implements Setting {
  readonly corpus: Corpus;
  readonly queries: readonly Query[];
  readonly control: ControlOptions | null;
  readonly seed: number;
  readonly #roots: StageRoots;
  readonly #hashes: Roots;

  /** The backend that is active at the first key is part of every key. */
  constructor(roots: StageRoots, control: ControlOptions | null = null, hashes?: Roots) {
    const { corpus, queries, identity } = roots;
    this.corpus = corpus;
    this.queries = queries;
    this.control = control;
    this.seed = roots.seed;
    this.#roots = roots;
    let backend: string | undefined;
    this.#hashes = hashes ?? {
      getBackend: () => (backend ??= activeBackend()),
      turns: computeHash(['turns', identity.data]),
      queries: computeHash(['queries', identity.data, queries.map(({ id, split }) => [id, split])]),
      getEncoder: once(() => computeHash(['encoder', identity.encoder])),
      getTokenEncoder: once(() => computeHash(['tokens', identity.tokenEncoder ?? identity.encoder])),
      known: new Map(),
    };
  }

  /** The same plan in the world of a control, or in the world as it is. */
  under(control: ControlOptions | null): Plan {
    return control === this.control ? this : new Plan(this.#roots, control, this.#hashes);
  }

  /** The plan for what reads these parts: the undisturbed one unless the control destroys one of them. */
  seeing(reads: readonly WorldPart[]): Plan {
    return this.control === null || disturbs(this.control.kind, reads) ? this : this.under(null);
  }

  controlSeed({ seed }: ControlOptions): number {
    return seed ?? this.seed;
  }

  encoderIdentity(options: EncoderOptions): unknown {
    return this.#roots.identity.encoderOf?.(options) ?? options;
  }

  findSliceTrust(slice: SliceOptions): SliceTrust {
    return requireSlices(this.#roots.slices).findTrust(slice);
  }

  #code(module: string): string {
    const { code } = this.#roots.identity;
    return typeof code === 'string' ? code : code(module);
  }

  /** @param pool the stage of the pool that a stage of pairs is about. */
  stage(use: StageUse<unknown>, pool?: Stage): Stage {
    const plan = this.seeing(use.reads);
    const { control } = plan;
    const { queries, getEncoder, getTokenEncoder } = this.#hashes;
    const roots = [
      ...(use.of === 'turns' ? [] : [queries]),
      ...(use.reads.includes('vectors') ? [getEncoder()] : []),
      ...(use.reads.includes('tokens') ? [getTokenEncoder()] : []),
      ...(control === null ? [] : [control.kind, plan.controlSeed(control)]),
    ];
    const own = Object.values(use.inputs(plan)).map((input) => plan.stage(input, pool));
    const inputs = [...(use.of === 'pairs' && pool !== undefined ? [pool] : []), ...own];
    return this.#known(use.name, [use.version, use.key(plan)], roots, inputs, use.module, use.isKept);
  }

  /** A result of other stages that has its own name, such as a figure of a ranking; its key covers all that the workspace consists of. */
  derived(name: string, options: unknown, inputs: readonly Stage[], module = import.meta.url): Stage {
    const { queries, getEncoder } = this.#hashes;
    return this.#known(name, [options, this.seed], [queries, getEncoder()], inputs, module, true);
  }

  #known(
    name: string,
    options: unknown,
    roots: readonly unknown[],
    inputs: readonly Stage[],
    module: string,
    isKept: boolean,
  ): Stage {
    const keys = inputs.map((input) => input.key);
    const written = `${name} ${keys.join(' ')} ${JSON.stringify([options, roots])}`;
    const { known, getBackend, turns } = this.#hashes;
    return getOrCompute(known, written, () => {
      const key = computeHash([name, options, this.#code(module), getBackend(), turns, roots, keys]);
      return { name, key, inputs, isKept };
    });
  }
}

/** @throws AdmissibilityError where nobody signs slices. */
export function requireSlices(slices: SliceSource | undefined): SliceSource {
  if (slices !== undefined) return slices;
  throw new AdmissibilityError(
    'kernel-unreachable',
    'workspace knows no kernel that signs slices; open it with the input slices, or run the arm with ragpp run',
  );
}

/** Stages and all that they are computed from, each key once, inputs before what needs them. */
export function withInputs(stages: readonly Stage[], found = new Map<string, Stage>()): ReadonlyMap<string, Stage> {
  for (const stage of stages) {
    if (found.has(stage.key)) continue;
    withInputs(stage.inputs, found);
    found.set(stage.key, stage);
  }
  return found;
}
