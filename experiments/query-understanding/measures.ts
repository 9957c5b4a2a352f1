import { wilsonInterval } from '../../src/core/numbers/distributions.ts';
import { getOrCompute } from '../../src/core/values/once.ts';
import type { QueryTimeRange } from '../../src/model/text/times/question-times.ts';
import type { EntityRegistry } from '../../src/rank/query/entity-registry.ts';
import { type QueryUnderstanding, understand } from '../../src/rank/query/understand.ts';
import { findChronoRange } from './chrono-ranges.ts';
import {
  chooseHalf,
  computeLabelledRange,
  computeTimestamp,
  HALVES,
  type Half,
  type LabelledQuestion,
} from './labelled-questions.ts';

const NORMAL_95 = 1.959963984540054;
const FLAGS = ['entityFocused', 'timeFocused', 'procedural', 'requiresDomainDb'] as const;

/** Hits of n with the interval of the share, 95 %, by Wilson. */
export interface Share {
  readonly hits: number;
  readonly n: number;
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/** Null where nothing was counted. */
export function computeShare(hits: number, n: number): Share | null {
  return n === 0 ? null : { hits, n, share: hits / n, ...wilsonInterval(hits, n, NORMAL_95) };
}

type Counts = Record<Half, readonly [hits: number, n: number]>;

/** Counts hits by measure and half. */
class Tally {
  readonly #counts = new Map<string, Counts>();

  count(measure: string, half: Half, hits: number, n = 1): void {
    const counts = getOrCompute(this.#counts, measure, (): Counts => ({ dev: [0, 0], 'held out': [0, 0] }));
    const [hitsBefore, nBefore] = counts[half];
    counts[half] = [hitsBefore + hits, nBefore + n];
  }

  list(): Measure[] {
    return Array.from(this.#counts, ([measure, halves]) => {
      const [dev, heldOut] = HALVES.map((half) => computeShare(...halves[half])) as [Share | null, Share | null];
      return { measure, dev, heldOut };
    });
  }
}

/** A share on both halves of the questions. */
export interface Measure {
  readonly measure: string;
  readonly dev: Share | null;
  readonly heldOut: Share | null;
}

const isSame = (a: QueryTimeRange | null, b: QueryTimeRange | null) => a?.start === b?.start && a?.end === b?.end;

function countRanges(
  tally: Tally,
  half: Half,
  wanted: QueryTimeRange | null,
  of: string,
  found: QueryTimeRange | null,
) {
  if (wanted === null) return tally.count(`${of}: no range where none is labelled`, half, Number(found === null));
  tally.count(`${of}: the labelled range exactly`, half, Number(isSame(wanted, found)));
  const sharesTime = found !== null && found.start < wanted.end && wanted.start < found.end;
  tally.count(`${of}: a range that shares time with the labelled one`, half, Number(sharesTime));
}

function countEntities(tally: Tally, half: Half, question: LabelledQuestion, found: QueryUnderstanding): void {
  const ids = found.entities.map(({ canonicalId }) => canonicalId);
  const right = ids.filter((id) => question.entities.includes(id)).length;
  tally.count('precision', half, right, ids.length);
  tally.count('recall', half, right, question.entities.length);
  const ambiguous = found.ambiguous.filter(({ mentionText }) => question.ambiguous.includes(mentionText)).length;
  tally.count('ambiguous mentions listed', half, ambiguous, question.ambiguous.length);
  const isRight = right === ids.length && right === question.entities.length;
  tally.count('all entities of the question, and no other', half, Number(isRight));
}

/** A question that a rule got wrong: shown for the dev half alone. */
export interface Miss {
  readonly id: string;
  readonly what: string;
  readonly wanted: unknown;
  readonly found: unknown;
}

/** What the rules get right on both halves, and what they miss on the dev half. */
export async function measureQuestions(questions: readonly LabelledQuestion[], entities: EntityRegistry) {
  const [all, categories, flags, ranges, resolution] = [
    new Tally(),
    new Tally(),
    new Tally(),
    new Tally(),
    new Tally(),
  ];
  const misses: Miss[] = [];
  for (const question of questions) {
    const [half, timestamp, { text, timeZone }] = [chooseHalf(question), computeTimestamp(question), question];
    const found = await understand(text, { timestamp, timeZone, entities });
    const check = (what: 'category' | (typeof FLAGS)[number]) => {
      const [wanted, got] = [question[what], found[what]];
      if (wanted !== got && half === 'dev') misses.push({ id: question.id, what, wanted, found: got });
      return Number(wanted === got);
    };
    const isRight = check('category');
    categories.count(question.category, half, isRight);
    all.count('all', half, isRight);
    for (const flag of FLAGS) flags.count(flag, half, check(flag));
    const wanted = computeLabelledRange(question);
    countRanges(ranges, half, wanted, 'understand', found.timeRange);
    countRanges(ranges, half, wanted, 'chrono-node alone', findChronoRange(text, timestamp, timeZone));
    if (half === 'dev' && !isSame(wanted, found.timeRange))
      misses.push({ id: question.id, what: 'timeRange', wanted, found: found.timeRange });
    countEntities(resolution, half, question, found);
  }
  return {
    categories: [...categories.list(), ...all.list()],
    flags: flags.list(),
    ranges: ranges.list(),
    resolution: resolution.list(),
    misses,
  };
}
