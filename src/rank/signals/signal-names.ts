import { z } from 'zod';

/**
 * What a name of a signal looks like: `family[.variant][@context]`, or two of these joined by `*` for their product. The family is what is measured, the
 * variant how (by which encoder, over which document, with which half-life), the context of which other turns, or relative to what.
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

/** What used to be appended to a score. */
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

/** What used to be before a coordinate, a step or an encoder. */
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
