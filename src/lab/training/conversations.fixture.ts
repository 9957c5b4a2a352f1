import { writeFileSync } from 'node:fs';
import { createRandom, type Random } from '../../core/numbers/random.ts';

const CONVERSATIONS = 7;
const SESSIONS = 2;
const TURNS = 5;
const QUESTIONS = 3;
const WORDS = 'bread soup train salt corn milk fish lamp wolf drum rope bell tent frog'.split(' ');
/** Shares some words with the others, so that their document frequencies change with it. */
const OTHER_WORDS = 'bread soup train harp snow glue coal mint fern silk'.split(' ');

const drawWordList = (source: Random, words: readonly string[], count: number) =>
  Array.from({ length: count }, () => words[source.integer(words.length)] as string);

/** A conversation that its questions ask alone; each question takes words from the turn that answers it. */
function sample(id: string, isReplaced: boolean) {
  const source = createRandom(7, `${isReplaced ? 'replaced ' : ''}${id}`);
  const words = isReplaced ? OTHER_WORDS : WORDS;
  const conversation: Record<string, unknown> = { speaker_a: 'Ana', speaker_b: 'Ben' };
  const said: { readonly id: string; readonly words: string[] }[] = [];
  for (let session = 1; session <= SESSIONS; session++) {
    conversation[`session_${session}_date_time`] = `${session}:00 pm on ${3 + 2 * session} May, 2023`;
    conversation[`session_${session}`] = Array.from({ length: TURNS }, (_, turn) => {
      const own = { id: `D${session}:${turn + 1}`, words: drawWordList(source, words, 6) };
      said.push(own);
      return { speaker: turn % 2 === 0 ? 'Ana' : 'Ben', dia_id: own.id, text: `${own.words.join(' ')}.` };
    });
  }
  const qa = Array.from({ length: QUESTIONS }, (_, question) => {
    const target = said[(question * 3 + 1) % said.length] as (typeof said)[number];
    const text = [...target.words.slice(0, 3), ...drawWordList(source, words, 2)].join(' ');
    return { question: `${text}?`, answer: 'yes', evidence: [target.id], category: 4 };
  });
  return { sample_id: id, conversation, qa };
}

/** Names of the conversations of {@link writeConversations}. */
const CONVERSATION_IDS: readonly string[] = Array.from({ length: CONVERSATIONS }, (_, i) => `conv-${i}`);

/**
 * Writes seven conversations in the format of LoCoMo, with three questions each.
 *
 * @param replaced conversations whose turns and questions have other texts
 */
export function writeConversations(path: string, replaced: readonly string[] = []): void {
  writeFileSync(path, JSON.stringify(CONVERSATION_IDS.map((id) => sample(id, replaced.includes(id)))));
}

/**
 * An experiment that fits an arm on such a file, all of whose encoders are fitted.
 *
 * @param set values at paths of the arm
 */
export function buildConversationsConfig(path: string, set: Readonly<Record<string, unknown>> = {}) {
  const signals = {
    groups: ['text', 'time', 'author', 'structure'],
    encoders: [{ encoder: 'lsa', dimension: 5, oversampling: 3, minDocumentFrequency: 1 }],
  };
  const fit = {
    model: { name: 'linear', initial: { age: 1 } },
    ...{ epochs: 3, patience: 2, seeds: 1, temperature: 0.2, folds: 3, innerFolds: 2, resamples: 0 },
    ...{ loss: ['listwise'], l2: [0.003, 0.03], learningRate: [0.3], importance: false, controls: false },
  };
  return {
    name: 'conversations',
    seed: 3,
    backend: 'cpu',
    dataset: { name: 'locomo', path },
    embedding: { encoder: 'lsa', dimension: 7, oversampling: 3 },
    evaluation: { metrics: ['recall@10', 'ndcg@10', 'mrr@10'], samples: 199 },
    arms: { learned: { steps: [{ search: { newest: { k: 50 } } }, { mix: { signals, fit } }], set } },
  };
}
