import type { Random } from '../../core/numbers/random.ts';
import { LEAST_ROUNDS, type PlantedDependency } from '../prepared/datasets.ts';
import { type InventedWords, TOPICS } from './invented-words.ts';

/** All markers are in as many background turns: no marker is rarer than another. */
const PLAIN_MARKERS = ['remark', 'notice', 'comment'];
const CORRECTION_MARKERS = ['correction', 'amendment', 'erratum'];
const MARKERS = [...PLAIN_MARKERS, ...CORRECTION_MARKERS];
/** Topics of the turns that are not on the topic of the query. */
const OTHER_TOPICS = 3;

/** The texts of a conversation. */
export interface SceneTexts {
  /** In time order. */
  readonly turns: readonly string[];
  readonly query: string;
}

/** Draws without repetition. */
class Bag<T> {
  readonly #items: T[];

  constructor(items: readonly T[], stream: Random) {
    this.#items = stream.shuffle([...items]);
  }

  take(): T {
    return this.#items.pop() as T;
  }
}

const pickOne = <T>(items: readonly T[], stream: Random) => items[stream.integer(items.length)] as T;

/** A topic's words in another order, some of them replaced by words of any topic. */
function drawTopicWords(words: InventedWords, topic: number, wordNoise: number, stream: Random): string[] {
  const own = words.topics[topic] as readonly string[];
  const said = own.map((word) =>
    stream.uniform() < wordNoise ? pickOne(pickOne(words.topics, stream), stream) : word,
  );
  return stream.shuffle(said);
}

/** Two names are never side by side, where they would be read as one. */
function buildText(marker: string, said: readonly string[], name: string, second: string, fillers: string[]): string {
  const [a, b, c, d] = said;
  return [`${marker}:`, fillers[0], a, b, name, c, fillers[1], second, d].join(' ');
}

/**
 * The names of an entity scene: each turn on the topic has one, which a bridge, another turn, has beside a second one.
 */
interface Bridges {
  /** By place of the bridge: the name that it shares with a turn on the topic, and the one that it adds. */
  readonly byPlace: ReadonlyMap<number, readonly [shared: string, added: string]>;
  /** The name that leads to the indicated turn. */
  readonly asked: string;
}

function drawBridges(scene: Scene, names: readonly string[], bag: Bag<string>, turns: number, stream: Random): Bridges {
  const matchedPlaces = new Set(scene.matched);
  const free = Array.from({ length: turns - 1 }, (_, i) => i + 1).filter((place) => !matchedPlaces.has(place));
  const places = new Bag(free, stream);
  const links = scene.matched.map((matched) => ({ matched, place: places.take(), added: bag.take() }));
  const byPlace = new Map(
    links.map(({ matched, place, added }) => [place, [names[matched] as string, added] as const]),
  );
  return { byPlace, asked: (links.find(({ matched }) => matched === scene.indicated) as (typeof links)[number]).added };
}

/**
 * Texts in which every turn on the topic of the query is equally similar to it: the topic's words, a name that the
 * query does not have, and as many words.
 *
 * @param wordNoise the probability that a word of a topic is replaced.
 */
export function drawSceneTexts(
  scene: Scene,
  turns: number,
  words: InventedWords,
  wordNoise: number,
  stream: Random,
): SceneTexts {
  const [asked, ...others] = stream
    .shuffle(Array.from({ length: TOPICS }, (_, topic) => topic))
    .slice(0, 1 + OTHER_TOPICS) as [number, ...number[]];
  const bag = new Bag(words.names, stream);
  const names = Array.from({ length: turns }, () => bag.take());
  const bridges = scene.dependency === 'entity' ? drawBridges(scene, names, bag, turns, stream) : null;
  const matched = new Set(scene.matched);
  const corrects = (place: number) => scene.dependency === 'correction' && place === scene.indicated;
  const texts = names.map((name, place) => {
    const isMatched = matched.has(place);
    const marker = pickOne(corrects(place) ? CORRECTION_MARKERS : isMatched ? PLAIN_MARKERS : MARKERS, stream);
    const said = drawTopicWords(words, isMatched ? asked : pickOne(others, stream), wordNoise, stream);
    const fillers = [pickOne(words.fillers, stream), pickOne(words.fillers, stream)];
    const [shown, second] = bridges?.byPlace.get(place) ?? [name, pickOne(words.fillers, stream)];
    return buildText(marker, said, shown, second, fillers);
  });
  const [a, b, c, d] = stream.shuffle([...(words.topics[asked] as readonly string[])]);
  return { turns: texts, query: `what about ${a} ${b} ${bridges?.asked ?? bag.take()} ${c} ${d}?` };
}

/** The places of a conversation's turns: a root, and branches that grow by one turn each in every round, in an order drawn at random. */
export interface Layout {
  /** [turns - 1] the branch of each turn after the root, in time order. */
  readonly branches: readonly number[];
  readonly branching: number;
  /** Complete rounds. */
  readonly rounds: number;
}

/** Which turns of a conversation are on the topic of its query, by place in time (0 is the root). */
interface Scene {
  readonly dependency: PlantedDependency;
  /** The branch whose newest turn is the query's anchor. */
  readonly askedBranch: number;
  /** [branching] places of the turns on the topic, in no order that tells anything. */
  readonly matched: readonly number[];
  /** The one of `matched` that the dependency indicates. */
  readonly indicated: number;
}

export function drawLayout(turns: number, branching: number, stream: Random): Layout {
  const branches: number[] = [];
  while (branches.length < turns - 1) branches.push(...stream.shuffle(Array.from({ length: branching }, (_, b) => b)));
  return { branches: branches.slice(0, turns - 1), branching, rounds: Math.floor((turns - 1) / branching) };
}

/** The place of a branch's turn of a round. */
function findPlace({ branches, branching }: Layout, branch: number, round: number): number {
  return 1 + branches.indexOf(branch, round * branching);
}

/** One turn of each branch; the last round is left out, so that no turn on the topic is the anchor. */
function drawOnePerBranch(layout: Layout, stream: Random): number[] {
  return Array.from({ length: layout.branching }, (_, branch) =>
    findPlace(layout, branch, stream.integer(layout.rounds - 1)),
  );
}

/**
 * A statement, its correction (the next turn of the same branch) and mentions in other branches. The rank of the correction in time is drawn from all but the first,
 * so that to be the last tells little.
 */
function drawCorrected(layout: Layout, stream: Random) {
  const { branching, rounds } = layout;
  const [own, ...others] = stream.shuffle(Array.from({ length: branching }, (_, branch) => branch)) as [
    number,
    ...number[],
  ];
  const round = stream.integer(rounds - LEAST_ROUNDS + 1);
  const mentions = branching - 2;
  const earlier = stream.integer(mentions + 1);
  const later = round + 2;
  const places = others
    .slice(0, mentions)
    .map((branch, i) =>
      findPlace(layout, branch, i < earlier ? stream.integer(round + 1) : later + stream.integer(rounds - 1 - later)),
    );
  const indicated = findPlace(layout, own, round + 1);
  return { matched: [findPlace(layout, own, round), indicated, ...places], indicated };
}

/** Draws where the turns on the query's topic are, and which of them the dependency indicates. */
export function drawScene(dependency: PlantedDependency, layout: Layout, stream: Random): Scene {
  const askedBranch = stream.integer(layout.branching);
  if (dependency === 'correction') return { dependency, askedBranch, ...drawCorrected(layout, stream) };
  const matched = drawOnePerBranch(layout, stream);
  const indicated = {
    time: () => Math.max(...matched),
    thread: () => matched[askedBranch] as number,
    entity: () => matched[stream.integer(matched.length)] as number,
  }[dependency]();
  return { dependency, askedBranch, matched, indicated };
}
