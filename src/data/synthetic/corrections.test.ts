import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors/errors.ts';
import { formatQrels, formatSuperseded } from '../../eval/trec/trec-files.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import type { Superseded } from '../../model/run.ts';
import { describeDataset } from '../dataset-contract.harness.ts';
import { CORRECTION_KINDS } from '../prepared/datasets.ts';
import { loadDataset } from '../registry.ts';
import { ATTRIBUTES } from './correction-texts.ts';
import { buildCorrectionsDataset } from './corrections.ts';
import { drawCorrections } from './draw-corrections.ts';

const SMALL = { conversations: 11, facts: 9, chatter: 13 } as const;
const load = (more: object = {}) => loadDataset({ name: 'corrections', ...SMALL, ...more });

describeDataset('corrections', () => load(), {
  reassigned: async (answers) => {
    const { turns, asked } = drawCorrections(SMALL);
    const judged = asked.map((one) => {
      const answer = answers.get(one.query.id);
      return answer === undefined ? one : { ...one, relevant: [answer] };
    });
    return buildCorrectionsDataset({ turns, asked: judged });
  },
});

const dataset = await load({ extracted: 1 });

const readFact = ({ corpus }: Dataset, id: string) =>
  corpus.getTurn(id).attributes as { readonly subject: string; readonly predicate: string; readonly object: string };

/** The earlier statements about the person and attribute that a query asks for, in the order of time. */
function listStatements(of: Dataset, query: Query) {
  const { turns } = of.corpus.getConversation(query.conversationId as string);
  const facts = turns
    .filter(({ attributes }) => attributes !== undefined)
    .map(({ id }) => ({ id, ...readFact(of, id) }));
  const asked = ATTRIBUTES.find(({ ask }) =>
    ask.some((form) => facts.some(({ subject }) => form.replaceAll('{s}', subject) === query.text)),
  );
  const earlier = facts.filter(({ id }) => of.corpus.getTurn(id).timestamp < query.timestamp);
  return earlier.filter(({ subject, predicate }) => predicate === asked?.predicate && query.text.includes(subject));
}

const ofKind = (kind: string) => dataset.queries.filter((query) => query.kind === kind);
const listRelevant = ({ id }: Query) =>
  [...(dataset.qrels.get(id) ?? [])].filter(([, grade]) => grade > 0).map(([turn]) => turn);
const readSuperseded = ({ id }: Query) => dataset.superseded?.get(id) as ReadonlyMap<string, string>;

describe('the answer key is what the statements say at the moment of the question', () => {
  test('of a fact before and after its correction: the statements of the last value, and those of others', () => {
    for (const query of [...ofKind('before'), ...ofKind('superseded')]) {
      const statements = listStatements(dataset, query);
      const last = statements.at(-1)?.object;
      const current = statements.filter(({ object }) => object === last).map(({ id }) => id);
      const [superseded, relevant] = [readSuperseded(query), listRelevant(query)];
      expect(relevant.toSorted(), query.id).toEqual(current.toSorted());
      expect([...relevant, ...superseded.keys()].sort(), query.id).toEqual(statements.map(({ id }) => id).sort());
      expect(superseded.size > 0, query.id).toBe(query.kind === 'superseded');
      for (const [id, replacement] of superseded) {
        expect(relevant).toContain(replacement);
        const [old, now] = [id, replacement].map((turn) => dataset.corpus.getTurn(turn).timestamp);
        expect(old).toBeLessThan(now as number);
      }
    }
    expect(ofKind('superseded').length).toBeGreaterThan(20);
  });

  test('before a correction nothing is stale, and each fact is asked before and after it', () => {
    for (const query of dataset.queries)
      if (query.kind !== 'superseded') expect(readSuperseded(query).size, query.id).toBe(0);
    expect(ofKind('before')).toHaveLength(ofKind('superseded').length);
  });

  test('of a contradiction: both statements, of two people and of two values', () => {
    for (const query of ofKind('contradictory')) {
      const [first, second, ...more] = listRelevant(query).map((id) => dataset.corpus.getTurn(id));
      expect(more).toEqual([]);
      expect(first?.author).not.toBe(second?.author);
      expect(first?.attributes?.object).not.toBe(second?.attributes?.object);
    }
  });

  test('of an absent fact: nothing, though the attribute of another person and the person are spoken of', () => {
    for (const query of ofKind('absent')) {
      expect(listRelevant(query)).toEqual([]);
      const { turns } = dataset.corpus.getConversation(query.conversationId as string);
      const facts = turns.filter(({ attributes }) => attributes !== undefined).map(({ id }) => readFact(dataset, id));
      const asked = facts.filter(({ subject }) => query.text.includes(subject));
      const stated = asked.some(({ subject, predicate }) =>
        ATTRIBUTES.find((one) => one.predicate === predicate)?.ask.some(
          (form) => form.replaceAll('{s}', subject) === query.text,
        ),
      );
      expect([asked.length > 0, stated], query.id).toEqual([true, false]);
    }
  });

  test('of an adjacent fact: its one statement, and a correction of another person’s is later', () => {
    for (const query of ofKind('adjacent')) {
      const [id, ...more] = listRelevant(query);
      expect(more).toEqual([]);
      const { subject, predicate } = readFact(dataset, id as string);
      const { turns } = dataset.corpus.getConversation(query.conversationId as string);
      const others = turns.filter(
        ({ attributes: facts }) => facts?.predicate === predicate && facts?.subject !== subject,
      );
      expect(others.filter(({ timestamp }) => timestamp < query.timestamp).length).toBeGreaterThanOrEqual(2);
    }
  });
});

test('what is written as a jsonl folder is read back: turns, queries, judgements and superseded turns', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'corrections-'));
  const formatLines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  writeFileSync(join(folder, 'turns.jsonl'), formatLines(dataset.corpus.turns));
  writeFileSync(join(folder, 'queries.jsonl'), formatLines(dataset.queries));
  writeFileSync(join(folder, 'qrels.txt'), formatQrels(dataset.qrels));
  writeFileSync(join(folder, 'superseded.tsv'), formatSuperseded(dataset.superseded as Superseded));
  const read = await loadDataset({ name: 'jsonl', path: folder });
  rmSync(folder, { recursive: true });
  expect(read.corpus.turns).toEqual(dataset.corpus.turns);
  expect(read.qrels).toEqual(dataset.qrels);
  const stated = [...(dataset.superseded ?? [])].filter(([, turns]) => turns.size > 0);
  expect(read.superseded).toEqual(new Map(stated));
  expect(read.queries.map(({ id, timestamp, split }) => [id, timestamp, split])).toEqual(
    dataset.queries.map(({ id, timestamp, split }) => [id, timestamp, split]),
  );
});

describe('the draws', () => {
  test('are the same for a seed, others for another, and the first ones for more conversations', async () => {
    const [again, other, more] = [await load(), await load({ seed: 2 }), await load({ conversations: 17 })];
    expect(again.hash).toBe((await load()).hash);
    expect(other.hash).not.toBe(again.hash);
    const first = new Set(again.corpus.conversations.map(({ id }) => id));
    expect(more.corpus.turns.filter(({ conversationId }) => first.has(conversationId))).toEqual(again.corpus.turns);
  });

  test('have the same texts, times and questions whatever is extracted', async () => {
    const none = await load({ extracted: 0 });
    expect(none.corpus.turns.some(({ attributes }) => attributes !== undefined)).toBe(false);
    const bare = dataset.corpus.turns.map(({ attributes: _, ...turn }) => turn);
    expect(none.corpus.turns).toEqual(bare);
    expect([none.queries, none.qrels, none.superseded]).toEqual([dataset.queries, dataset.qrels, dataset.superseded]);
  });

  test('take the kinds that are asked for, also with as many facts as are allowed', async () => {
    const { facts } = await load({ kinds: ['adjacent'], facts: 16, chatter: 0 });
    expect(facts['queries, adjacent']).toBe(11 * 16);
    expect(Object.keys(facts).filter((name) => CORRECTION_KINDS.some((kind) => name.endsWith(kind)))).toEqual([
      'queries, adjacent',
    ]);
  });

  test('vary their texts', () => {
    const forms = ATTRIBUTES.flatMap(({ state, ask, correctMarked, correctUnmarked }) => [
      state.length,
      ask.length,
      correctMarked.length + correctUnmarked.length,
    ]);
    expect(Math.min(...forms)).toBeGreaterThanOrEqual(3);
    expect(new Set(dataset.corpus.turns.map(({ text }) => text)).size).toBeGreaterThan(0.75 * dataset.corpus.size);
  });

  test('are refused for options out of range', async () => {
    for (const more of [{ facts: 17 }, { extracted: 1.1 }, { kinds: [] }, { conversations: 1 }])
      await expect(load(more)).rejects.toThrow(ConfigurationError);
  });
});
