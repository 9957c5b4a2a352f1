import type { StartProgress } from '../../core/terminal/progress.ts';
import type { Query } from '../../model/dataset.ts';
import { findChainEnds } from '../../model/turns/conversation.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { Counts, countUndecodable, findTestStart, isDev, type Prepared } from '../prepared/prepared.ts';
import { replyQuery } from '../prepared/reply-judgements.ts';
import { type CleanMail, cleanMails, type Selection, selectMails } from './mail-text.ts';
import { Pseudonyms } from './pseudonyms.ts';
import { type DatedMail, readMails, type SourceMail } from './read-mails.ts';
import { type Link, linkThreads, settleTimes } from './thread-parents.ts';

/** Raise it whenever the prepared rows change. */
export const PREPARATION_VERSION = 5;

const QUERY_TOKENS = 10;
const PARENT_TOKENS = 5;

/** How the threads are split: the first 70 % by time for development and the rest for test, or all of them for test. */
export type MailSplit = 'time' | 'test';

/** Reads mails and prepares turns, queries and judgements; every step is counted in the facts. */
export async function prepareMails(
  raw: readonly SourceMail[],
  split: MailSplit,
  progress: StartProgress,
): Promise<Prepared> {
  const counts = new Counts();
  return prepareRead(await readMails(raw, counts, progress), split, counts, progress);
}

/** Prepares mails that were read: all that is done with them once they are known by id. */
export function prepareRead(
  mails: ReadonlyMap<string, DatedMail>,
  split: MailSplit,
  counts: Counts,
  progress: StartProgress,
): Prepared {
  const links = linkThreads(mails);
  countLinks(links, counts);
  const stated = new Map([...mails.values()].map((mail) => [mail.id, mail.time]));
  const times = settleTimes(stated, links);
  counts.add('times moved after their parent', [...stated].filter(([id, time]) => times.get(id) !== time).length);
  const selection = selectMails(cleanMails(mails, times, counts, progress), links, counts);
  const turns = buildMailTurns(selection, counts);
  const corpus = new Corpus(turns);
  const { queries, devConversations } = buildMailQueries(corpus, turns, selection, split, counts);
  countResult(corpus, queries, counts);
  return { turns, queries, devConversations, facts: counts.toFacts() };
}

function countLinks(links: ReadonlyMap<string, Link>, counts: Counts): void {
  const direct = [...links.values()].filter((link) => link.direct).length;
  counts.add('replies whose parent is there', direct);
  counts.add('replies of which only an older ancestor is there', links.size - direct);
}

/** The kept mails as turns, in time order; without ids, people and addresses of the source. */
function buildMailTurns({ kept, dropped, links }: Selection, counts: Counts): Turn[] {
  const pseudonyms = new Pseudonyms();
  const labelAuthor = ({ mail }: CleanMail) => pseudonyms.registerAuthor(mail.authorName, mail.authorAddress);
  const authors = kept.map(labelAuthor);
  counts.add('authors', pseudonyms.count);
  // Who wrote only mails that were dropped may still be named in those that stay.
  for (const item of dropped) labelAuthor(item);
  const digits = Math.max(4, String(kept.length).length);
  const turnIds = new Map(kept.map(({ mail }, i) => [mail.id, `m${String(i + 1).padStart(digits, '0')}`]));
  const getMailTurnId = (id: string) => turnIds.get(id) as string;
  const roots = findChainEnds(turnIds.keys(), (id) => links.get(id)?.id ?? null);
  return kept.map(({ mail, time, text }, i) => {
    const link = links.get(mail.id);
    return {
      id: getMailTurnId(mail.id),
      conversationId: `t-${getMailTurnId(roots.get(mail.id) as string)}`,
      parentId: link === undefined ? null : getMailTurnId(link.id),
      timestamp: time,
      author: authors[i] as string,
      channel: mail.list,
      text: pseudonyms.hide(text),
    };
  });
}

function buildMailQueries(
  corpus: Corpus,
  turns: readonly Turn[],
  { kept, links }: Selection,
  split: MailSplit,
  counts: Counts,
): Pick<Prepared, 'queries' | 'devConversations'> {
  const byId = new Map(kept.map((item) => [item.mail.id, item]));
  const worded = [...kept.keys()].filter((i) => isWordedReply(kept[i] as CleanMail, byId, links));
  const dated = worded.filter((i) => isDatedAfterParent(kept[i] as CleanMail));
  counts.add('left out: replies dated before their parent', worded.length - dated.length);
  const replies = dated.map((i) => turns[i] as Turn);
  const dev =
    split === 'test'
      ? new Set<string>()
      : chooseDevBeforeTest(corpus, new Set(replies.map((turn) => turn.conversationId)));
  const queries = replies.map((turn) =>
    replyQuery(turn, dev.has(turn.conversationId) ? 'dev' : 'test', turn.conversationId),
  );
  return { queries, devConversations: [...dev] };
}

/** All conversations that start before the test part does. */
function chooseDevBeforeTest(corpus: Corpus, asked: ReadonlySet<string>): Set<string> {
  const start = (id: string) => ({ id, timestamp: (corpus.getConversation(id).turns[0] as Turn).timestamp });
  const first = findTestStart([...asked].map(start));
  return new Set(corpus.conversations.map(({ id }) => id).filter((id) => isDev(start(id), first)));
}

/** A reply with enough text of its own to a parent with enough text. */
function isWordedReply(
  item: CleanMail,
  byId: ReadonlyMap<string, CleanMail>,
  links: ReadonlyMap<string, Link>,
): boolean {
  const link = links.get(item.mail.id);
  if (link === undefined || !link.direct || item.tokens < QUERY_TOKENS) return false;
  return (byId.get(link.id) as CleanMail).tokens >= PARENT_TOKENS;
}

/** A moved time reveals the time of the parent, so a query with such a time would contain its answer. */
function isDatedAfterParent({ mail, time }: CleanMail): boolean {
  return time === mail.time;
}

function countResult(corpus: Corpus, queries: readonly Query[], counts: Counts): void {
  countUndecodable(corpus.turns, counts);
  counts.add('messages', corpus.size);
  counts.add('messages in threads of two or more', corpus.turns.length - countSingles(corpus));
  counts.add('threads of two or more', corpus.conversations.length - countSingles(corpus));
  counts.add('trees with a query', new Set(queries.map((query) => query.cluster)).size);
  counts.add('queries', queries.length);
  for (const split of ['dev', 'test'] as const)
    counts.add(`queries, ${split}`, queries.filter((query) => query.split === split).length);
}

function countSingles(corpus: Corpus): number {
  return corpus.conversations.filter((conversation) => conversation.turns.length === 1).length;
}
