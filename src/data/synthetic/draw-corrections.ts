import { createRandom } from '../../core/numbers/random.ts';
import { parse } from '../../core/validation/validation.ts';
import type { Query } from '../../model/dataset.ts';
import type { Turn } from '../../model/turns/turn.ts';
import {
  type CorrectionKind,
  type CorrectionsInput,
  type CorrectionsOptions,
  corrections,
} from '../prepared/datasets.ts';
import { CorrectionDrawing, type Said } from './correction-scenes.ts';
import { CHATTER } from './correction-texts.ts';
import { drawIds } from './planted-conversations.ts';

const DAY = 86_400_000;
const BEGIN = Date.UTC(2024, 0, 1);
/** Days of a conversation, and days between the starts of two. */
const SPAN = 60;
const STAGGER = 5;

/** A question with its answer key: the turns that state what holds, and those that state what held before. */
export interface AskedCorrection {
  readonly query: Omit<Query, 'split'>;
  readonly relevant: readonly string[];
  /** Superseded turn -> the turn that states what holds. */
  readonly superseded: ReadonlyMap<string, string>;
}

/** Conversations in the order of their start, and their questions. */
export interface DrawnCorrections {
  readonly turns: readonly Turn[];
  readonly asked: readonly AskedCorrection[];
}

/** The moments of a conversation as milliseconds, each later than the one before. */
function placeInTime(moments: readonly { readonly at: number }[], start: number): Map<object, number> {
  const times = new Map<object, number>();
  let last = start;
  for (const moment of moments.toSorted((a, b) => a.at - b.at)) {
    last = Math.max(last + 1, start + Math.round(moment.at * SPAN * DAY));
    times.set(moment, last);
  }
  return times;
}

/** The conversation of a place in the list. What is extracted has a stream of its own, so that no text depends on it. */
function drawConversation(index: number, { seed, facts, kinds, chatter, extracted }: CorrectionsOptions) {
  const conversationId = `c${index}`;
  const stream = createRandom(seed, `corrections ${index}`);
  const drawing = new CorrectionDrawing(stream);
  const scenes = Array.from({ length: facts }, (_, i) =>
    drawing.drawScene(kinds[(index + i) % kinds.length] as CorrectionKind),
  );
  const said = [
    ...scenes.flatMap((scene) => scene.said),
    ...Array.from({ length: chatter }, () => drawing.chat(CHATTER)),
  ];
  const questions = scenes.flatMap((scene) => scene.questions);
  const times = placeInTime([...said, ...questions], BEGIN + index * STAGGER * DAY);
  const timeOf = (moment: object) => times.get(moment) as number;
  const inOrder = said.toSorted((a, b) => timeOf(a) - timeOf(b));
  const ids = drawIds(conversationId, said.length, stream);
  const idOf = new Map(inOrder.map((one, at) => [one, ids[at] as string]));
  const reader = createRandom(seed, `corrections extraction ${index}`);
  const turns = inOrder.map((one, at): Turn => {
    const { author, text, fact } = one;
    const isExtracted = reader.uniform() < extracted;
    const attributes = fact && {
      ...{ memoryType: 'semantic', subject: fact.subject, predicate: fact.attribute.predicate, object: fact.value },
    };
    return {
      ...{ id: ids[at] as string, conversationId, parentId: at === 0 ? null : (ids[at - 1] as string) },
      ...{ timestamp: timeOf(one), author, channel: null, text },
      ...(attributes !== null && isExtracted && { attributes }),
    };
  });
  const asked = questions.map((question, i): AskedCorrection => {
    const { text, kind, relevant, superseded } = question;
    const idsOf = (list: readonly Said[]) => list.map((one) => idOf.get(one) as string);
    const [replacement = ''] = idsOf(relevant);
    return {
      query: {
        ...{ id: `q${index}-${i}`, text, timestamp: timeOf(question), anchorTurnId: null, author: null, channel: null },
        ...{ conversationId, kind, cluster: conversationId },
      },
      relevant: idsOf(relevant),
      superseded: new Map(idsOf(superseded).map((id) => [id, replacement])),
    };
  });
  return { turns, asked };
}

/**
 * Draws conversations in which people's facts are stated, corrected, contradicted and left out. The texts and times are
 * the same for every `extracted`, and the first conversations for every number of conversations. O(turns).
 *
 * @throws ConfigurationError for options out of range.
 */
export function drawCorrections(given: CorrectionsInput = {}): DrawnCorrections {
  const options = parse(corrections.options, { name: 'corrections', ...given }, 'the options of corrections');
  const drawn = Array.from({ length: options.conversations }, (_, index) => drawConversation(index, options));
  return { turns: drawn.flatMap(({ turns }) => turns), asked: drawn.flatMap(({ asked }) => asked) };
}
