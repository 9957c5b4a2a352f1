import { readQuestionText } from '../../model/text/question-text.ts';
import { type QueryMoment, readTimes } from '../../model/text/times/question-times.ts';
import {
  CATEGORY_CUES,
  COUNTED_PARTY,
  FIRST_PERSON,
  HABIT,
  PARTY,
  type QueryCategory,
  RECORD_NOUN,
  TIME_CUES,
  TRADE_VERB,
  WHY_SOMEONE,
} from './question-cues.ts';

/** What kind of question it is. The names are those of the retrieval design that the strategies come from. */
export interface QueryType {
  /** The kind of answer: a fact, the steps of a process, an overview, or a reason, comparison or trend. */
  readonly category: QueryCategory;
  /** True if it names things or persons, or a kind of party such as customers. */
  readonly entityFocused: boolean;
  /** True if it names a time, or depends on the order of events. */
  readonly timeFocused: boolean;
  /** True if it is about a process. */
  readonly procedural: boolean;
  /** True if its answer needs current business records. */
  readonly requiresDomainDb: boolean;
}

/** What was found in the question before. */
export interface QuestionFindings {
  /** The things and persons that it names, known or not, as it writes them. */
  readonly names: readonly string[];
  /** True if it has a time range. */
  readonly hasTime: boolean;
}

/** True if a text of `readQuestionText` asks for a time or depends on the order of events. */
function hasTimeCue(text: string): boolean {
  return TIME_CUES.test(text.toLowerCase().replace(CONTRACTED, '$1 is'));
}

/**
 * True if a question names a time, asks for one, or depends on the order of events: `timeFocused` of `understand`.
 *
 * @throws as `findTimeRange`.
 */
export function asksForTime(question: string, moment: QueryMoment): boolean {
  const text = readQuestionText(question);
  return hasTimeCue(text) || readTimes(text, moment).range !== null;
}

const CONTRACTED = /\b(what|how|who|when|where|why)'s\b/g;
const PROCESS = /\b(?:process|procedure|workflow)\b/;

/** True if a text asks why someone whom it names did something. `Why did Acme's orders fall` asks about orders. */
function asksWhyNamed(words: string, names: readonly string[]): boolean {
  return Array.from(words.matchAll(WHY_SOMEONE)).some(({ index, 0: cue }) => {
    const rest = words.slice(index + cue.length).replace(/^the /, '');
    return names.some((name) => rest.startsWith(`${name.toLowerCase()} `));
  });
}

/**
 * The type of an English question by cue words.
 *
 * @param text of `readQuestionText`.
 * @returns the type, and the name of the cue that decided the category: `no cue` for a factual question.
 */
export function classifyQuery(text: string, { names, hasTime }: QuestionFindings): { type: QueryType; rule: string } {
  const words = text.toLowerCase().replace(CONTRACTED, '$1 is');
  const cue = CATEGORY_CUES.find(({ expression }) => expression.test(words));
  const category = cue?.category ?? 'factual';
  const procedural = category === 'procedural' || PROCESS.test(words);
  const hasNames = names.length > 0;
  const isTrade = TRADE_VERB.test(words) && hasNames && !FIRST_PERSON.test(words);
  const type: QueryType = {
    category,
    entityFocused: hasNames || (!procedural && PARTY.test(words)),
    timeFocused: hasTime || hasTimeCue(text),
    procedural,
    requiresDomainDb:
      !procedural &&
      !HABIT.test(words) &&
      !asksWhyNamed(words, names) &&
      (RECORD_NOUN.test(words) || COUNTED_PARTY.test(words) || isTrade),
  };
  return { type, rule: cue?.rule ?? 'no cue' };
}
