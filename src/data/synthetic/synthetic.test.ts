import { describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors/errors.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { describeDataset } from '../dataset-contract.harness.ts';
import { PLANTED_DEPENDENCIES, type PlantedDependency } from '../prepared/datasets.ts';
import { loadDataset } from '../registry.ts';
import { drawPlantedConversations, type PlantedQuery } from './planted-conversations.ts';
import { buildPlantedDataset } from './synthetic.ts';

const SMALL = { conversations: 13, branching: 3, turns: 17 } as const;
const load = () => loadDataset({ name: 'synthetic', ...SMALL });

describeDataset('synthetic', load, {
  reassigned: async (answers) => {
    const { turns, planted } = drawPlantedConversations(SMALL);
    const judged = planted.map((one) => ({ ...one, relevant: answers.get(one.query.id) ?? one.relevant }));
    return buildPlantedDataset({ turns, planted: judged });
  },
  mayAnswer: (turn, query, { qrels }) => qrels.get(query.id)?.has(turn.id) === true,
});

/** Conversations of one dependency, without noise. */
function drawOne(dependency: PlantedDependency, conversations = 211) {
  const { turns, planted } = drawPlantedConversations({ conversations, dependencies: [dependency], wordNoise: 0 });
  const corpus = new Corpus(turns);
  return { corpus, planted };
}

const splitWords = (text: string): readonly string[] => text.match(/\w+/g) ?? [];
const listNames = (text: string) => splitWords(text).filter((word) => /^[A-Z]/.test(word));

/** Rank in time of the indicated turn among those on the topic, 0 for the oldest. */
function rankIndicated(corpus: Corpus, { matched, indicated }: PlantedQuery): number {
  return matched.filter((id) => corpus.getPosition(id) < corpus.getPosition(indicated)).length;
}

function listAncestors(corpus: Corpus, id: string): string[] {
  const { parentId } = corpus.getTurn(id);
  return parentId === null ? [] : [parentId, ...listAncestors(corpus, parentId)];
}

describe('the indicated turn', () => {
  test('of time is the newest on the topic', () => {
    const { corpus, planted } = drawOne('time');
    for (const one of planted) expect(rankIndicated(corpus, one)).toBe(one.matched.length - 1);
  });

  test('of a thread is the only one on the topic above the anchor', () => {
    const { corpus, planted } = drawOne('thread');
    for (const { query, matched, indicated } of planted) {
      const above = listAncestors(corpus, query.anchorTurnId as string);
      expect(matched.filter((id) => above.includes(id))).toEqual([indicated]);
    }
  });

  test('of an entity is the only one with a name that another turn has beside the name in the query', () => {
    const { corpus, planted } = drawOne('entity');
    for (const { query, matched, indicated } of planted) {
      const { turns } = corpus.getConversation(query.conversationId as string);
      const asked = listNames(query.text);
      const bridges = turns.filter(({ text }) => listNames(text).some((name) => asked.includes(name)));
      const reached = new Set(bridges.flatMap(({ text }) => listNames(text)));
      const hops = matched.filter((id) => listNames(corpus.getTurn(id).text).some((name) => reached.has(name)));
      expect(hops).toEqual([indicated]);
      expect(bridges).toHaveLength(1);
    }
  });

  test('of a correction is marked as one, and answers an older turn on the topic', () => {
    const { corpus, planted } = drawOne('correction');
    for (const { matched, indicated } of planted) {
      const { parentId, text } = corpus.getTurn(indicated);
      expect(matched).toContain(parentId);
      expect(text).toMatch(/^(correction|amendment|erratum):/);
      for (const id of matched)
        if (id !== indicated) expect(corpus.getTurn(id).text).toMatch(/^(remark|notice|comment):/);
    }
  });
});

describe.each(PLANTED_DEPENDENCIES)('turns on the topic of a query: %s', (dependency) => {
  const { corpus, planted } = drawOne(dependency);

  test('have all of its topic words, no other word of it, and as many words', () => {
    for (const { query, matched } of planted) {
      const asked = splitWords(query.text);
      const shared = matched.map((id) => splitWords(corpus.getTurn(id).text).filter((word) => asked.includes(word)));
      const names = listNames(query.text);
      const topic = asked.filter((word) => !['what', 'about', ...names].includes(word)).sort();
      for (const words of shared) expect(words.sort()).toEqual(topic);
      for (const { id, text } of corpus.getConversation(query.conversationId as string).turns) {
        expect(splitWords(text)).toHaveLength(9);
        if (!matched.includes(id)) expect(splitWords(text).filter((word) => topic.includes(word))).toEqual([]);
      }
    }
  });

  test('are distinct, before the query, and not its anchor', () => {
    for (const { query, matched, indicated } of planted) {
      expect(new Set(matched).size).toBe(5);
      expect(matched).toContain(indicated);
      expect(matched).not.toContain(query.anchorTurnId);
      for (const id of matched) expect(corpus.getTurn(id).timestamp).toBeLessThan(query.timestamp);
    }
  });

  test('have ids in an order that does not follow the indicated one', () => {
    const places = planted.map(({ matched, indicated }) => [...matched].sort().indexOf(indicated));
    const counts = [0, 1, 2, 3, 4].map((place) => places.filter((one) => one === place).length);
    // 4 standard errors of a share of 1/5
    for (const count of counts) expect(Math.abs(count / planted.length - 0.2)).toBeLessThan(0.11);
  });
});

describe('the order in time is uninformative about other dependencies', () => {
  const countRanks = (dependency: PlantedDependency, conversations: number) => {
    const { corpus, planted } = drawOne(dependency, conversations);
    const ranks = planted.map((one) => rankIndicated(corpus, one));
    return [0, 1, 2, 3, 4].map((rank) => ranks.filter((one) => one === rank).length / conversations);
  };

  test.each(['thread', 'entity'] as const)('%s: each rank in time is as frequent', (dependency) => {
    // 4 standard errors of a share of 1/5
    for (const share of countRanks(dependency, 1009)) expect(Math.abs(share - 1 / 5)).toBeLessThan(0.05);
  });

  test('a correction is later than what it corrects, and each later rank is as frequent', () => {
    const [first, ...later] = countRanks('correction', 1009);
    expect(first).toBe(0);
    for (const share of later) expect(Math.abs(share - 1 / 4)).toBeLessThan(0.055);
  });
});

describe('strength', () => {
  test('changes the judgements alone', async () => {
    const [none, all] = [0, 1].map((strength) => drawPlantedConversations({ conversations: 101, strength }));
    expect(none?.turns).toEqual(all?.turns);
    const omitRelevant = ({ relevant: _, ...one }: PlantedQuery) => one;
    expect(none?.planted.map(omitRelevant)).toEqual(all?.planted.map(omitRelevant));
    expect(buildPlantedDataset(none as NonNullable<typeof none>).hash).not.toBe(
      buildPlantedDataset(all as NonNullable<typeof all>).hash,
    );
  });

  test.each([
    [0, 0.2],
    [0.25, 0.4],
    [0.5, 0.6],
    [1, 1],
  ])('%d: the indicated turn is relevant for a share of %d', (strength, share) => {
    const { planted } = drawPlantedConversations({ conversations: 1009, strength });
    const follows = planted.filter(({ indicated, relevant }) => indicated === relevant).length;
    expect(Math.abs(follows / 1009 - share)).toBeLessThan(0.05);
    for (const { matched, relevant } of planted) expect(matched).toContain(relevant);
  });

  test('a query that follows the dependency follows it at every greater strength', () => {
    const draw = (strength: number) => drawPlantedConversations({ conversations: 211, strength }).planted;
    const [weak, strong] = [draw(0.3), draw(0.6)];
    for (const [i, { indicated, relevant }] of weak.entries())
      if (indicated === relevant && strong[i]?.relevant !== indicated) expect(strong[i]?.relevant).toBe(relevant);
  });
});

describe('the generator', () => {
  test('gives the same conversations for any number of them, so that its work is linear', () => {
    const [few, many] = [7, 31].map((conversations) => drawPlantedConversations({ conversations }));
    expect(many?.turns.slice(0, few?.turns.length)).toEqual(few?.turns);
    expect(many?.planted.slice(0, 7)).toEqual(few?.planted);
    expect(many?.turns).toHaveLength(31 * 31);
  });

  test('gives other conversations for another seed', () => {
    const texts = (seed: number) => drawPlantedConversations({ seed, conversations: 3 }).turns.map(({ text }) => text);
    const other = new Set(texts(2));
    expect(texts(1).filter((text) => other.has(text))).toEqual([]);
  });

  test('replaces as many words of topics as the noise says', () => {
    const draw = (wordNoise: number) => drawPlantedConversations({ conversations: 101, wordNoise }).turns;
    const [clean, noisy] = [draw(0), draw(0.5)];
    const vocabulary = (turns: typeof clean) =>
      turns.slice(0, 31).flatMap(({ text }) => splitWords(text).filter((word) => /^[a-z]{6}$/.test(word)));
    expect(new Set(vocabulary(noisy)).size).toBeGreaterThan(1.5 * new Set(vocabulary(clean)).size);
  });

  test('gives every turn and every query a name, however long a conversation is', () => {
    const { turns, planted } = drawPlantedConversations({ conversations: 4, turns: 1009, wordNoise: 0 });
    for (const { text } of turns) expect(text).toMatch(/^\w+: (\w+ ){7}\w+$/);
    for (const { query } of planted) {
      const own = turns.filter(({ conversationId }) => conversationId === query.conversationId);
      expect(new Set(own.flatMap(({ text }) => listNames(text))).size).toBe(1009);
      expect(listNames(query.text)).toHaveLength(1);
    }
  });

  test.each([
    [{ turns: 20_001 }, '20000, got 20001'],
    [{ turns: 20 }, 'turns: expected at least 21 turns for 5 branches, or fewer branches, got 20'],
    [{ strength: 1.1 }, 'strength'],
    [{ dependencies: [] }, 'dependencies'],
    [{ wordNoise: 1 }, 'wordNoise'],
    [{ conversation: 3 }, 'conversations'],
  ])('refuses %j', (options, message) => {
    const act = () => drawPlantedConversations(options as object);
    expect(act).toThrow(ConfigurationError);
    expect(act).toThrow(message);
  });

  test.each([2, 3, 7])('takes %d branches', (branching) => {
    const { turns, planted } = drawPlantedConversations({ conversations: 23, branching, turns: 4 * branching + 1 });
    expect(() => buildPlantedDataset({ turns, planted })).not.toThrow();
    for (const { matched } of planted) expect(new Set(matched).size).toBe(branching);
  });
});
