import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { normaliseBody, parseMail, readMailingList } from './mail-message.ts';

const encodeLatin = (text: string) => Buffer.from(text, 'latin1');

const PLAIN = `From ana@example.org  Thu Aug 22 14:44:26 2002
Received: from b by c; Thu, 22 Aug 2002 15:00:00 +0100
Received: from a by b; Thu, 22 Aug 2002 14:39:00 +0100
Message-Id: <three@example.org>
In-Reply-To: Your message of "Wed, 21 Aug 2002"
    <two@example.org>
References: <one@example.org>
\t<two@example.org>
From: =?ISO-8859-1?Q?Ana_Mar=EDa_P=E9rez?= <Ana@Example.org>
Date: Thu, 22 Aug 2002 14:38:22 +0100 (BST)
List-Id: Talk of cooks <cooks.example.org>
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

Cr=E8me br=FBl=E9e needs a =
torch.
`;

describe('parseMail', () => {
  it('decodes headers and body and passes over the mailbox line', async () => {
    expect(await parseMail(encodeLatin(PLAIN))).toEqual({
      id: '<three@example.org>',
      inReplyTo: ['<two@example.org>'],
      references: ['<one@example.org>', '<two@example.org>'],
      time: Date.UTC(2002, 7, 22, 13, 38, 22),
      timeFromReceived: false,
      authorName: 'Ana María Pérez',
      authorAddress: 'ana@example.org',
      list: 'cooks.example.org',
      body: 'Crème brûlée needs a torch.\n',
    });
  });

  it('reads raw bytes of a charset that is not UTF-8', async () => {
    const mail = await parseMail(encodeLatin('Content-Type: text/plain; charset=iso-8859-1\n\ncaf\xe9\n'));
    expect(mail.body).toBe('café\n');
  });

  it.each([
    ['no header', '\nlate \xe9t\xc3\xa9\n\nb'],
    ['no body', 'Subject: a\n\n'],
    ['headers alone', 'Subject: a'],
    ['a last line without its end', 'Subject: a\n\nb\nc'],
    ['line ends of two bytes', 'Subject: a\r\n\r\nb\r\n\r\nc\r\n'],
    ['half a line end', 'Subject: a\n\nb\r'],
    ['line ends of three bytes', 'Subject: a\r\r\n\r\r\nb\r\r\nc\n\nd'],
    ['a byte order mark', 'Subject: a\n\n\xef\xbb\xbfb\n'],
    ['another charset', 'Content-Type: text/plain; charset="ISO-8859-15"\n\n\xa4 \xe9'],
    ['a charset that is rare', 'Content-Type: text/plain; charset=utf-16le\n\na\0\n\0b\0'],
    ['two charsets', 'Content-Type: text/plain; x=1; charset=utf-8; charset=iso-8859-1\n\n\xc3\xa9'],
    ['a charset in a quote', 'Content-Type: text/plain; x=";charset=utf-8"; charset=iso-8859-1\n\n\xc3\xa9'],
    ['a charset in a comment', 'Content-Type: text/plain (;charset=utf-8); charset=iso-8859-1\n\n\xc3\xa9'],
    ['a charset in an open quote', 'Content-Type: text/plain; x="1; charset=iso-8859-1\n\n\xc3\xa9'],
    ['another parameter', 'Content-Type: text/plain; x-charset=iso-8859-1\n\n\xc3\xa9'],
    ['two types', 'Content-Type: text/plain\nContent-Type: text/html\n\n<b>a</b>'],
    ['HTML', 'Content-Type: TEXT/HTML; charset=us-ascii\r\n\r\n<pre>caf\xe9\r\n\r\ncr\xe8me</pre>'],
    ['plain text that looks like HTML', 'Content-Type: Text/Plain\n\n<b>a</b>'],
    ['HTML without a type', 'Subject: a\n\n<b>caf\xc3\xa9</b>\n'],
    ['flowed lines', 'Content-Type: text/plain; charset=utf-8; format=flowed\n\na \nb\n c\n'],
    ['an encoding in a comment', 'Content-Transfer-Encoding: (8bit) quoted-printable\n\na=\nb'],
    ['an encoding around a comment', 'Content-Transfer-Encoding: base(a)64\n\nUGFuY2FrZXMhCg==\n'],
    ['an unknown encoding', 'Content-Transfer-Encoding: x-base64\n\nUGFuY2FrZXMhCg==\n'],
    ['an attachment', 'Content-Disposition: attachment\n\na\n'],
    ['an inline text', 'Content-Disposition: inline\nContent-Transfer-Encoding: 7BIT\n\na=41\n'],
  ])('reads the body as the parser does by itself: %s', async (_, text) => {
    const { text: body = '', html = '' } = await PostalMime.parse(encodeLatin(text), { forceRfc822Attachments: true });
    expect((await parseMail(encodeLatin(text))).body).toBe(
      normaliseBody(body) || html.replace(/<[^>]*>/g, '').trimEnd(),
    );
  });

  it.each(['\n', '\r\n'])('reads HTML the same with each line end: %j', async (end) => {
    const lines = ['Content-Type: text/html', '', '<blockquote>', '<pre><p>', 'a</pre>'];
    expect((await parseMail(encodeLatin(lines.join(end)))).body).toBe('> a');
  });

  it('decodes base64', async () => {
    const mail = await parseMail(encodeLatin('Content-Transfer-Encoding: base64\n\nUGFuY2FrZXMhCg==\n'));
    expect(mail.body).toBe('Pancakes!\n');
  });

  it('takes the plain text of a mail that has both kinds', async () => {
    const mail = await parseMail(
      encodeLatin(
        'MIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain\n\nplain\n--b\nContent-Type: text/html\n\n<b>rich</b>\n--b--\n',
      ),
    );
    expect(mail.body.trim()).toBe('plain');
  });

  it('takes HTML as text where there is no other', async () => {
    const mail = await parseMail(
      encodeLatin(
        'Content-Type: text/html\n\n<p>Fold in the <a href="http://x.example">eggs</a>.</p><img src="spy.gif">\n',
      ),
    );
    expect(mail.body).toBe('Fold in the eggs.');
  });

  it.each([
    ['no zone is UTC', 'Date: Thu, 22 Aug 2002 14:38:22', Date.UTC(2002, 7, 22, 14, 38, 22), false],
    ['an unknown zone is UTC', 'Date: 22 Aug 2002 14:38:22 -0000', Date.UTC(2002, 7, 22, 14, 38, 22), false],
    [
      'Received, nearest to the author, overrules a date that is over three days off',
      'Received: by c; Mon, 9 Sep 2002 17:57:42 +0100\nReceived: by b; Fri, 4 Oct 2002 09:05:00 -0700\nDate: Wed, 04 Oct 2028 12:05:01 -0400',
      Date.UTC(2002, 9, 4, 16, 5),
      true,
    ],
    [
      'a date within three days stands',
      'Received: by b; Fri, 4 Oct 2002 09:05:00 +0000\nDate: Wed, 2 Oct 2002 09:05:01 +0000',
      Date.UTC(2002, 9, 2, 9, 5, 1),
      false,
    ],
    [
      'Received replaces a date that cannot be parsed',
      'Received: by b; Fri, 4 Oct 2002 09:05:00 +0000\nDate: soon',
      Date.UTC(2002, 9, 4, 9, 5),
      true,
    ],
    ['no date at all', 'Date: soon', null, false],
  ])('%s', async (_, headers, time, timeFromReceived) => {
    expect(await parseMail(encodeLatin(`${headers}\n\ntext\n`))).toMatchObject({ time, timeFromReceived });
  });
});

describe('a time on a machine in Tokyo', () => {
  const { TZ } = process.env;
  beforeAll(() => {
    process.env.TZ = 'Asia/Tokyo';
    expect(new Date(0).getHours()).toBe(9);
  });
  afterAll(() => {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  });

  const at = Date.UTC(2002, 7, 22, 14, 38, 22);
  it.each([
    ['Thu, 22 Aug 2002 14:38:22', at],
    ['Thu Aug 22 14:38:22 2002', at],
    ['22-Aug-2002 14:38:22', at],
    ['Thu Aug 22 14:38 2002', Date.UTC(2002, 7, 22, 14, 38)],
    ['8/22/2002 2:38 PM', Date.UTC(2002, 7, 22, 14, 38)],
    ['22 Aug 2002', Date.UTC(2002, 7, 22)],
    ['2002-08-22', Date.UTC(2002, 7, 22)],
    ['2002-08-22T14:38:22Z', at],
    ['2002-08-22T16:38:22.000+02:00', at],
    ['Thu, 22 Aug 2002 16:38:22 +02:00', at],
    ['Thu, 22 Aug 2002 10:38:22 -0400 (EDT)', at],
    ['Thu Aug 22 10:38:22 EDT 2002', at],
    ['Thu Aug 22 16:38:22 +0200 2002', at],
    ['Thu, 22 Aug 2002 14:38:22 GMT', at],
    ['Thu, 22 Aug 2002 16:38:22 CEST', null], // a name that stands for nothing here
  ])('%s', async (date, time) => {
    expect((await parseMail(encodeLatin(`Date: ${date}\n\ntext\n`))).time).toBe(time);
  });
});

const buildHeaders = (fields: Record<string, string>) =>
  Object.entries(fields).map(([key, value]) => ({ key, originalKey: key, value }));

describe('readMailingList', () => {
  it.each([
    [{ 'list-id': 'Talk <of> cooks <cooks.example.org>' }, 'cooks.example.org'],
    [{ 'list-id': '<Cooks.Example.org>' }, 'cooks.example.org'],
    [{ 'x-beenthere': 'cooks@example.org' }, 'cooks.example.org'],
    [{ 'mailing-list': 'list cooks@groups.example; contact cooks-owner@groups.example' }, 'cooks.groups.example'],
    [{ 'mailing-list': 'contact cooks-help@example.org; run by ezmlm' }, 'cooks.example.org'],
    [{ 'delivered-to': 'mailing list cooks@example.org' }, 'cooks.example.org'],
    [{ 'list-post': '<mailto:cooks@example.org>' }, 'cooks.example.org'],
    [{ sender: 'owner-cooks@example.org' }, 'cooks.example.org'],
    [{ sender: 'Talk <cooks-admin@example.org>' }, 'cooks.example.org'],
    [{ 'delivered-to': 'ana@example.org', sender: 'ana@example.org' }, null],
  ])('%j', (fields, list) => {
    expect(readMailingList(buildHeaders(fields as Record<string, string>))).toBe(list);
  });

  it('prefers the header that names the list outright', () => {
    expect(readMailingList(buildHeaders({ sender: 'owner-a@x.example', 'list-id': '<b.x.example>' }))).toBe(
      'b.x.example',
    );
  });
});
