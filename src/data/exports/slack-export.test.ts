import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { describeExportQueries, TALK } from './export-queries.harness.ts';
import {
  encodeSlackExport,
  formatSlackTime,
  formatSlackTurnId,
  SLACK_USERS,
  writeSlackMessage,
  writeSlackZip,
} from './slack.fixture.ts';
import { loadSlackExport } from './slack-export.ts';

const folder = mkdtempSync(join(tmpdir(), 'slack-'));
afterAll(() => rmSync(folder, { recursive: true }));

const START = Date.UTC(2024, 2, 1, 9);
const MINUTE = 60_000;
let written = 0;

function load(files: Readonly<Record<string, unknown>>, queries: 'none' | 'replies' = 'none') {
  const path = join(folder, `${written++}.zip`);
  writeFileSync(path, writeSlackZip(files));
  return loadSlackExport({ path, queries, queryFile: null });
}

const message = (minute: number, text: string, more = {}) => writeSlackMessage(START + minute * MINUTE, text, more);
const at = (minute: number) => formatSlackTime(START + minute * MINUTE);
const workspace = (...rows: object[]) => ({
  'channels.json': [{ id: 'C1', name: 'kitchen' }],
  'users.json': SLACK_USERS,
  'kitchen/2024-03-01.json': rows,
});

describeExportQueries(
  {
    name: 'slack-export',
    load: loadSlackExport,
    encode: encodeSlackExport,
    formatTurnId: formatSlackTurnId,
    extension: 'zip',
    hasVersions: false,
  },
  TALK,
);

describe('threads', () => {
  it('are conversations, below the message that opened them; so is each message outside', async () => {
    const { corpus, queries, qrels } = await load(
      {
        ...workspace(
          message(0, 'Who opens the window?', { thread_ts: at(0), reply_count: 2 }),
          message(1, 'Lunch is ready.'),
        ),
        'kitchen/2024-03-02.json': [
          message(1500, 'I did, an hour ago.', { thread_ts: at(0), user: 'U2' }),
          message(1501, 'Then it is closed again.', { thread_ts: at(0), subtype: 'thread_broadcast', root: {} }),
        ],
      },
      'replies',
    );
    expect(
      corpus.turns.map(({ id, parentId, conversationId, author, channel }) => [
        id,
        parentId,
        conversationId,
        author,
        channel,
      ]),
    ).toEqual([
      [`C1/${at(0)}`, null, `t-C1/${at(0)}`, 'person-001', 'kitchen'],
      [`C1/${at(1)}`, null, `t-C1/${at(1)}`, 'person-001', 'kitchen'],
      [`C1/${at(1500)}`, `C1/${at(0)}`, `t-C1/${at(0)}`, 'person-002', 'kitchen'],
      [`C1/${at(1501)}`, `C1/${at(0)}`, `t-C1/${at(0)}`, 'person-001', 'kitchen'],
    ]);
    expect(queries.map(({ turnId }) => turnId)).toEqual([`C1/${at(1500)}`, `C1/${at(1501)}`]);
    expect(Object.fromEntries(qrels.get(`q-C1/${at(1501)}`) ?? [])).toEqual({
      [`C1/${at(0)}`]: 3,
      [`C1/${at(1500)}`]: 1,
    });
  });

  it('whose first message is gone keep together, and are not asked for it', async () => {
    const { corpus, queries, facts } = await load(
      workspace(
        message(0, 'This message was deleted.', { subtype: 'tombstone', user: 'USLACKBOT', thread_ts: at(0) }),
        message(1, 'An answer to what is gone.', { thread_ts: at(0) }),
        message(2, 'And another answer to it.', { thread_ts: at(0) }),
        message(3, 'Who opens the window?', { thread_ts: at(3) }),
        message(4, 'I did, an hour ago.', { thread_ts: at(3) }),
      ),
      'replies',
    );
    expect(corpus.turns.slice(0, 2).map(({ parentId, conversationId }) => [parentId, conversationId])).toEqual([
      [null, `t-C1/${at(0)}`],
      [null, `t-C1/${at(0)}`],
    ]);
    expect(queries.map(({ turnId }) => turnId)).toEqual([`C1/${at(4)}`]);
    expect(facts['skipped: deleted messages']).toBe(1);
  });
});

describe('texts', () => {
  it('are as a reader sees them, with pseudonyms', async () => {
    const { corpus } = await load(
      workspace(
        message(
          0,
          '<@U2> and <@U2|bob>, not <@U9>: see <https://x.example|this page>, <https://y.example> &amp; &lt;b&gt; in <#C1|kitchen>',
        ),
        message(1, '<!here> write to <mailto:ana@x.example|ana@x.example>, says Bob Stone, 2 &lt; 3 &amp;lt;', {
          user: 'U2',
        }),
        message(2, 'a < b > c <>'),
      ),
    );
    expect(corpus.turns.map(({ text }) => text)).toEqual([
      'person-002 and person-002, not somebody: see this page, https://y.example & <b> in #kitchen',
      '@here write to address-0001, says person-002, 2 < 3 &lt;',
      'a < b > c <>',
    ]);
  });

  it('of bots may be attached; a bot continues no conversation', async () => {
    const path = join(folder, 'bots.zip');
    const bot = { subtype: 'bot_message', bot_id: 'B1', username: 'builder', user: undefined };
    writeFileSync(
      path,
      writeSlackZip(
        workspace(
          message(0, 'Does the build pass today?', { thread_ts: at(0) }),
          message(1, 'I think that it does pass.', { thread_ts: at(0), user: 'U2' }),
          message(2, '', {
            ...bot,
            thread_ts: at(0),
            attachments: [{ title: 'Build 7', text: 'failed in the kitchen', fallback: 'x' }, { fallback: 'ask Ana' }],
          }),
        ),
      ),
    );
    const { corpus, queries } = await loadSlackExport({ path, queries: 'continuation', queryFile: null });
    expect(corpus.turns.at(-1)).toMatchObject({
      text: 'Build 7\nfailed in the kitchen\nask Ana',
      author: 'person-003',
    });
    expect(queries.map(({ turnId }) => turnId)).toEqual([`C1/${at(1)}`]);
  });

  it('are counted where they are left out', async () => {
    const { corpus, facts } = await load(
      workspace(
        message(0, '<@U1> has joined the channel', { subtype: 'channel_join' }),
        message(1, '', { files: [{ id: 'F1' }], subtype: 'file_share' }),
        message(2, 'edited', { edited: { user: 'U1', ts: at(9) } }),
        message(3, 'twice'),
        message(3, 'twice'),
        { text: 'no time' },
        message(4, 'x', { ts: 'soon' }),
      ),
    );
    expect(corpus.turns.map(({ text }) => text)).toEqual(['edited', 'twice']);
    expect(facts).toMatchObject({
      channels: 1,
      'skipped: service messages': 1,
      'skipped: files without a text': 1,
      'skipped: messages that are there twice': 1,
      'skipped: messages of an unknown form': 2,
      'messages edited later, which have their last text': 1,
    });
  });
});

describe('files', () => {
  const files = {
    'x/channels.json': [{ id: 'C1', name: 'kitchen' }],
    'x/dms.json': [{ id: 'D1', members: ['U1', 'U2'] }],
    'x/mpims.json': [{ id: 'G1', name: 'mpdm-ana--bob-1', members: ['U1', 'U2'] }],
    'x/users.json': [...SLACK_USERS, { name: 'no id' }],
    'x/kitchen/2024-03-01.json': [message(0, 'one')],
    'x/kitchen/canvas.json': [],
    'x/D1/2024-03-01.json': [message(1, 'two')],
    'x/mpdm-ana--bob-1/2024-03-01.json': [message(2, 'three')],
    'x/unlisted/2024-03-01.json': [message(3, 'four')],
    'other/2024-03-01.json': [message(4, 'five')],
  };

  it('are those of channels and of conversations between people, which are not named by their members', async () => {
    const { corpus, facts } = await load(files);
    expect(corpus.turns.map(({ text, channel, id }) => [text, channel, id.split('/')[0]])).toEqual([
      ['one', 'kitchen', 'C1'],
      ['two', 'D1', 'D1'],
      ['three', 'G1', 'G1'],
      ['four', 'unlisted', 'unlisted'],
    ]);
    expect(facts).toMatchObject({
      channels: 4,
      'channels that no list has': 1,
      'skipped: users of an unknown form': 1,
    });
  });

  it('may be in a folder', async () => {
    const path = join(folder, 'unpacked');
    for (const [name, value] of Object.entries(files)) {
      mkdirSync(dirname(join(path, name)), { recursive: true });
      writeFileSync(join(path, name), JSON.stringify(value));
    }
    const { hash } = await loadSlackExport({ path, queries: 'none', queryFile: null });
    expect(hash).toBe((await load(files)).hash);
  });

  it.each<[string, Readonly<Record<string, unknown>>, RegExp]>([
    ['no users', { 'channels.json': [] }, /^no users\.json in: \S+\.zip; name the zip file or the folder/],
    ['no days', { 'users.json': [] }, /^no day of a channel, such as general\/2024-03-01\.json, in: \S+\.zip; name/],
    [
      'no list',
      { 'users.json': [], 'a/2024-03-01.json': {} },
      /\.zip\/a\/2024-03-01\.json: \(top level\): expected array, got \{\}; name/,
    ],
  ])('are missing: %s', async (_, given, fault) => {
    await expect(load(given)).rejects.toThrow(fault);
  });

  it('are not one file', async () => {
    const path = join(folder, 'users.json');
    writeFileSync(path, '[]');
    await expect(loadSlackExport({ path, queries: 'none', queryFile: null })).rejects.toThrow(
      /^one file is no workspace: \S+users\.json; name the folder or the zip file of an export of Slack$/,
    );
  });
});
