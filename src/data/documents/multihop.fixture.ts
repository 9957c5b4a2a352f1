/** Samples in the formats of MuSiQue and HotpotQA: invented texts, with a title that two passages share. */

const MUSIQUE_PASSAGES = [
  { title: 'Harbour Mill', text: 'Harbour Mill is a novel by Ines Okafor.' },
  { title: 'Ines Okafor', text: 'Ines Okafor was born in Lindholm.' },
  { title: 'Lindholm', text: 'Lindholm lies on the river Sava.' },
  { title: 'Lindholm', text: 'Lindholm is a surname.' },
  { title: 'Sava', text: 'The Sava ends in a lake.' },
] as const;

/** @param places of the supporting passages. */
function buildMusiqueQuestion(id: string, question: string, places: readonly number[]) {
  const paragraphs = MUSIQUE_PASSAGES.map(({ title, text }, idx) => ({
    idx,
    title,
    paragraph_text: text,
    is_supporting: places.includes(idx),
  }));
  return { id, question, paragraphs, answer: 'never read', answerable: true };
}

export const MUSIQUE = {
  passages: MUSIQUE_PASSAGES,
  questions: [
    buildMusiqueQuestion('2hop__1_2', 'Where was the author of Harbour Mill born?', [0, 1]),
    buildMusiqueQuestion('3hop1__1_2_3', 'On which river was the author of Harbour Mill born?', [0, 1, 2]),
    buildMusiqueQuestion('2hop__3_4', 'Where does the river of Lindholm end?', [2, 4]),
  ],
};

const HOTPOT_PASSAGES: Readonly<Record<string, readonly string[]>> = {
  'Ash Street': ['Ash Street is a road in Velm.', ' It is two miles long.'],
  Velm: ['Velm is a town of ', 'nine thousand people.'],
  'Oak Street': ['Oak Street is a road.'],
};

/** @param support titles of the supporting passages. */
function buildHotpotQuestion(_id: string, type: string, question: string, support: readonly string[]) {
  const supporting_facts = support.flatMap((title) => [
    [title, 0],
    [title, 1],
  ]);
  return { _id, type, question, supporting_facts, context: Object.entries(HOTPOT_PASSAGES), level: 'easy' };
}

export const HOTPOT = {
  passages: HOTPOT_PASSAGES,
  questions: [
    buildHotpotQuestion('5a7a', 'bridge', 'How many people live in the town of Ash Street?', ['Ash Street', 'Velm']),
    buildHotpotQuestion('5a7b', 'comparison', 'Are Ash Street and Oak Street roads?', ['Ash Street', 'Oak Street']),
  ],
};
