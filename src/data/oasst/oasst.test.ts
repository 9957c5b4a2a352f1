import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { StorageError, ValidationError } from '../../core/errors/errors.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { describeDataset } from '../dataset-contract.harness.ts';
import { countFoundByNewest, describeData } from '../prepared/data-folder.harness.ts';
import { loadOasst } from './oasst.ts';

const folder = mkdtempSync(join(tmpdir(), 'oasst-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Reply {
  readonly message_id: string;
  readonly text: string;
  readonly role: string;
  readonly replies: readonly Reply[];
}

const reply = (id: string, role: string, replies: readonly Reply[] = []): Reply => ({
  message_id: id,
  text: `Is this the text of ${id}?`,
  role,
  replies,
});

/** A prompt with two answers, the second of which was answered again. */
const TREES = ['a', 'b', 'c'].map((name) => ({
  message_tree_id: name,
  prompt: reply(`${name}0`, 'prompter', [
    reply(`${name}1`, 'assistant'),
    reply(`${name}2`, 'assistant', [reply(`${name}3`, 'prompter')]),
  ]),
}));
const TEXT = TREES.map((tree) => `${JSON.stringify(tree)}\n`).join('');
const path = join(folder, 'trees.jsonl');
writeFileSync(path, TEXT);

/** A tree with each message that answers something else moved below it. @param answers by message id */
function regraftTree(tree: Reply, answers: ReadonlyMap<string, string>): Reply {
  const messages = listReplies(tree);
  const parents = new Map(
    messages.flatMap(({ message_id, replies }) => replies.map((child) => [child.message_id, message_id])),
  );
  const findMessageParent = (id: string) => answers.get(id) ?? parents.get(id);
  const growTree = (message: Reply): Reply => ({
    ...message,
    replies: messages.filter(({ message_id }) => findMessageParent(message_id) === message.message_id).map(growTree),
  });
  return growTree(tree);
}

function listReplies(message: Reply): Reply[] {
  return [message, ...message.replies.flatMap(listReplies)];
}

function writeOasstFile(name: string, content: string | Uint8Array): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

const findTurnDepth = (corpus: Corpus, { id, conversationId }: Turn) =>
  corpus.getConversation(conversationId).getDepth(id);

describe('a file of trees', () => {
  describeDataset('oasst', () => loadOasst({ path }), {
    reassigned: (answers) => {
      const byMessage = new Map([...answers].map(([queryId, turnId]) => [queryId.slice('q-'.length), turnId]));
      const trees = TREES.map((tree) => ({ ...tree, prompt: regraftTree(tree.prompt, byMessage) }));
      return loadOasst({
        path: writeOasstFile('regrafted.jsonl', trees.map((tree) => JSON.stringify(tree)).join('\n')),
      });
    },
    // Times go by levels: only a message of the same level can be the answer without another time.
    mayAnswer: (turn, query, { corpus }) => {
      const parent = corpus.getTurn(corpus.getTurn(query.turnId as string).parentId as string);
      const { conversationId: tree } = parent;
      return turn.conversationId === tree && findTurnDepth(corpus, turn) === findTurnDepth(corpus, parent);
    },
  });

  it('states that its times are only an order', async () => {
    expect((await loadOasst({ path })).declaration.times).toBe('order');
  });

  it('asks every message that answers another', async () => {
    const { queries, qrels } = await loadOasst({ path });
    expect(queries.map(({ id, split }) => [id, split])).toEqual([
      ['q-a1', 'dev'],
      ['q-a2', 'dev'],
      ['q-a3', 'dev'],
      ['q-b1', 'dev'],
      ['q-b2', 'dev'],
      ['q-b3', 'dev'],
      ['q-c1', 'test'],
      ['q-c2', 'test'],
      ['q-c3', 'test'],
    ]);
    expect(queries[2]).toEqual({
      id: 'q-a3',
      turnId: 'a3',
      text: 'Is this the text of a3?',
      timestamp: 3 * 60_000,
      anchorTurnId: null,
      author: 'prompter',
      channel: null,
      kind: 'question',
      split: 'dev',
      cluster: 'a',
    });
    expect(Object.fromEntries(qrels.get('q-a3') ?? [])).toEqual({ a0: 2, a1: 1, a2: 3 });
    expect(Object.fromEntries(qrels.get('q-a1') ?? [])).toEqual({ a0: 3 });
  });

  it('may be compressed', async () => {
    const compressed = writeOasstFile('trees.jsonl.gz', gzipSync(TEXT));
    expect((await loadOasst({ path: compressed })).hash).toBe((await loadOasst({ path })).hash);
  });
});

describe('what cannot be read', () => {
  it.each([
    ['broken.jsonl.gz', TEXT, StorageError, 'cannot decompress'],
    [
      'none-to-ask.jsonl',
      JSON.stringify({ ...TREES[0], prompt: reply('a', 'prompter') }),
      ValidationError,
      'no message answers another in: ',
    ],
    ['empty.jsonl', '', ValidationError, 'no message answers another in: '],
    ['twice.jsonl', `${TEXT}${TEXT}`, ValidationError, 'duplicate turn id: a0'],
  ])('is named: %s', async (name, content, type, message) => {
    const error = await loadOasst({ path: writeOasstFile(name, content) }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(type);
    expect((error as Error).message).toContain(message);
  });
});

describeData('the first hundred English trees', 'oasst/en_100_tree.jsonl', (file) => {
  it('has the counts and the artefact that its docs tell', async () => {
    const dataset = await loadOasst({ path: file });
    expect(dataset.facts).toEqual({
      trees: 100,
      'skipped: deleted messages': 0,
      'skipped: messages without a text': 0,
      'texts with undecodable characters': 0,
      messages: 1167,
      'messages, prompter': 480,
      'messages, assistant': 687,
      queries: 1067,
      'queries, dev': 727,
      'queries, test': 340,
    });
    expect((countFoundByNewest(dataset) / dataset.queries.length).toFixed(3)).toBe('0.971');
  });
});
