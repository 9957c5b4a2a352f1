// Writes chatgpt-export/conversations.json: made-up chats in the form of an export of ChatGPT, from chat-topics.txt.
//   npx tsx examples/data/write-chatgpt-export.ts
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRandom, type Random } from 'rag-plusplus/core';

const folder = dirname(fileURLToPath(import.meta.url));
const EXCHANGES = 3;
const DAY = 86_400;
/** In seconds since 1970. */
const START = Date.UTC(2024, 0, 8, 7) / 1000;

interface Exchange {
  readonly question: string;
  readonly answer: string;
}

/** A chat before it is written: its title, and what is said. */
interface Plan {
  readonly title: string;
  readonly exchanges: readonly Exchange[];
}

interface Node {
  readonly id: string;
  readonly message: object | null;
  readonly parent: string | null;
  readonly children: string[];
}

/** Two chats for each topic: its first exchanges, and its last ones. */
function readPlans(text: string): Plan[] {
  const topics = text.split(/^# /m).filter((part) => part.trim() !== '');
  return topics.flatMap((topic) => {
    const [title = '', ...lines] = topic.trim().split('\n');
    const exchanges = lines.map((line) => {
      const [question = '', answer = ''] = line.split(' | ');
      return { question, answer };
    });
    const parts = [exchanges.slice(0, EXCHANGES), exchanges.slice(EXCHANGES)];
    return parts.map((part, i) => ({ title: i === 0 ? title : `${title}, more`, exchanges: part }));
  });
}

function drawUuid(source: Random): string {
  const digits = Array.from({ length: 32 }, () => source.integer(16).toString(16)).join('');
  return [0, 8, 12, 16, 20].map((start, i) => digits.slice(start, [8, 12, 16, 20, 32][i])).join('-');
}

/** The tree of a chat, which grows at its end unless a parent is named. */
class Tree {
  readonly nodes: Node[] = [];
  readonly #source: Random;
  #seconds: number;

  constructor(source: Random, seconds: number) {
    this.#source = source;
    this.#seconds = seconds;
  }

  wait(seconds: number): void {
    this.#seconds += seconds;
  }

  /** @returns the id of the node. */
  add(parent: string | null, role: string, content: object | null, more: object = {}): string {
    const id = parent === null ? 'client-created-root' : drawUuid(this.#source);
    this.#seconds += 8 + this.#source.integer(50_000) / 1000;
    const time = role === 'system' ? null : Math.round(this.#seconds * 1000) / 1000;
    const message = {
      id,
      author: { role, name: role === 'tool' ? 'web' : null, metadata: {} },
      create_time: time,
      content,
      status: 'finished_successfully',
      weight: 1,
      metadata: {},
      recipient: 'all',
      ...more,
    };
    this.nodes.push({ id, message: content === null ? null : message, parent, children: [] });
    this.nodes.find((node) => node.id === parent)?.children.push(id);
    return id;
  }
}

const say = (text: string) => ({ content_type: 'text', parts: [text] });
const cutAfterSentence = (text: string) => /^.*?[.?](?= |$)/.exec(text)?.[0] ?? text;

/** Adds a question and its answer; some questions are edited, some answers regenerated, and for some the web is asked. */
function addExchange(tree: Tree, top: string, { question, answer }: Exchange, source: Random): string {
  const chance = source.integer(100);
  if (chance < 12) {
    const first = tree.add(top, 'user', say(`${question.split(' ').slice(0, 4).join(' ')} ...`));
    tree.add(first, 'assistant', say('Could you tell me a little more about it?'));
  }
  const picture = { content_type: 'image_asset_pointer', asset_pointer: 'file-service://file-sample', width: 800 };
  const asked =
    chance > 45 && chance < 50 ? { content_type: 'multimodal_text', parts: [picture, question] } : say(question);
  const prompt = tree.add(top, 'user', asked);
  if (chance > 75) tree.add(prompt, 'assistant', say(`In short: ${cutAfterSentence(answer)}`));
  let above = prompt;
  if (chance > 30 && chance < 45) {
    above = tree.add(above, 'assistant', { content_type: 'thoughts', thoughts: [], source_analysis_msg_id: '' });
    const call = { content_type: 'code', language: 'unknown', text: JSON.stringify({ search_query: question }) };
    above = tree.add(above, 'assistant', call, { recipient: 'web' });
    const page = { content_type: 'tether_quote', url: 'https://example.org', domain: 'example.org', text: 'A page.' };
    above = tree.add(above, 'tool', page);
  }
  return tree.add(above, 'assistant', say(answer), { end_turn: true });
}

function writeChat({ title, exchanges }: Plan, seconds: number, source: Random): object {
  const tree = new Tree(source, seconds);
  const root = tree.add(null, 'system', null);
  const hidden = { metadata: { is_visually_hidden_from_conversation: true } };
  let top = tree.add(root, 'system', say(''), hidden);
  for (const [i, exchange] of exchanges.entries()) {
    // Four chats in ten are continued on another day.
    if (i === exchanges.length - 1 && source.integer(10) < 4) tree.wait((1 + source.integer(20)) * DAY);
    top = addExchange(tree, top, exchange, source);
  }
  const id = drawUuid(source);
  return {
    title,
    create_time: seconds,
    update_time: seconds,
    mapping: Object.fromEntries(tree.nodes.map((node) => [node.id, node])),
    moderation_results: [],
    current_node: top,
    conversation_id: id,
    is_archived: false,
    default_model_slug: 'gpt-4o',
    id,
  };
}

/** The text of a conversations.json, the newest chat first, as in an export. The same seed gives the same text. */
export function drawChatGptExport(seed: number): string {
  const source = createRandom(seed, 'sample-chats');
  const plans = readPlans(readFileSync(join(folder, 'chat-topics.txt'), 'utf8'));
  const order = plans.map((plan) => ({ plan, key: source.integer(2 ** 30) })).sort((a, b) => a.key - b.key);
  let seconds = START;
  const chats = order.map(({ plan }) => {
    seconds += Math.round(DAY / 8) + source.integer(3 * DAY);
    return JSON.stringify(writeChat(plan, seconds, source));
  });
  return `[\n${chats.reverse().join(',\n')}\n]\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(join(folder, 'chatgpt-export'), { recursive: true });
  writeFileSync(join(folder, 'chatgpt-export', 'conversations.json'), drawChatGptExport(20260101));
}
