import { describe, expect, it } from 'vitest';
import {
  withoutArmour,
  withoutFooter,
  withoutForwarded,
  withoutHeaderBlocks,
  withoutMatter,
  withoutSignature,
} from './mail-text.ts';

const splitLines = (text: string) => text.split('\n');

describe('withoutArmour', () => {
  it('keeps the signed text, its dashes unescaped, and drops frame and signature', () => {
    const mail = `-----BEGIN PGP SIGNED MESSAGE-----
Hash: SHA1

Sift the flour.
- -- 
ana
-----BEGIN PGP SIGNATURE-----
Version: GnuPG v1.0.6

iD8DBQE9
-----END PGP SIGNATURE-----
after`;
    expect(withoutArmour(splitLines(mail))).toEqual(['Sift the flour.', '-- ', 'ana', 'after']);
  });

  it('drops keys, also quoted ones', () => {
    const mail = '> -----BEGIN PGP PUBLIC KEY BLOCK-----\n> mQGi\n> -----END PGP PUBLIC KEY BLOCK-----\nkept';
    expect(withoutArmour(splitLines(mail))).toEqual(['kept']);
  });

  it('leaves dashes alone where nothing is signed', () => {
    expect(withoutArmour(['- -1 is less'])).toEqual(['- -1 is less']);
  });
});

describe('withoutForwarded', () => {
  it.each([
    '-----Original Message-----',
    '----- Original Message -----',
    '---------- Forwarded message ----------',
    '----------  Forwarded Message  ----------',
    'Begin forwarded message:',
    '===8<==============Original message text===============',
  ])('cuts to the end at %s', (mark) => {
    expect(withoutForwarded(['own', mark, 'From: b', '', 'theirs'])).toEqual(['own']);
  });

  it('goes on after an end mark', () => {
    const mail = 'own\n--- begin forwarded text\ntheirs\n--- end forwarded text\nmine again';
    expect(withoutForwarded(splitLines(mail))).toEqual(['own', 'mine again']);
  });

  it('goes on where quote marks show what is whose', () => {
    const mail = '----- Original Message -----\nFrom: "b" <b@x.example>\nSent: Monday\n\n> theirs\n\nown';
    expect(withoutForwarded(splitLines(mail))).toEqual([
      'From: "b" <b@x.example>',
      'Sent: Monday',
      '',
      '> theirs',
      '',
      'own',
    ]);
  });

  it('keeps prose about forwarding', () => {
    const prose = ['The original message was lost.', '-- forwarded as asked, all of it'];
    expect(withoutForwarded(prose)).toEqual(prose);
  });
});

describe('withoutFooter', () => {
  it.each([
    '_______________________________________________\nCooks mailing list\nhttp://x.example/mailman/listinfo/cooks',
    '-------------------------------------------------------\nThis sf.net email is sponsored by: OSDN\nhttp://x.example',
    '-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-\ncooks mailing list -- Read http://x.example/FAQ.html',
    '=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=\ncooks mailing list -- Read http://x.example/FAQ.html',
    'To unsubscribe from this group, send an email to:\ncooks-unsubscribe@x.example',
    'http://x.example/mailman/listinfo/cooks',
    '_________________________________________________________________\nSend and receive Hotmail on your mobile device: http://mobile.msn.com',
  ])('cuts %j', (footer) => {
    expect(withoutFooter(['own', '', ...splitLines(footer)])).toEqual(['own', '']);
  });

  it("keeps an author's own rule", () => {
    const mail = ['first', '-'.repeat(41), 'second, on another matter'];
    expect(withoutFooter(mail)).toEqual(mail);
  });

  it('takes an advertisement from above a text and keeps the text', () => {
    const mail = [
      '------------------------ Yahoo! Groups Sponsor ---------------------~-->',
      'buy http://x.example',
      '---------------------------------------------------------------------~->',
      'own',
    ];
    expect(withoutFooter(mail)).toEqual(['own']);
  });
});

describe('withoutSignature', () => {
  it('cuts at the mark', () => {
    expect(withoutSignature(['own', '--', 'Ana', 'Cook'])).toEqual(['own']);
  });

  it('passes over a mark with a long text below', () => {
    const mail = ['one', '--', ...Array.from({ length: 17 }, (_, i) => `line ${i}`)];
    expect(withoutSignature(mail)).toEqual(mail);
  });

  it('does not count quotes below it, as of who answers on top', () => {
    const mail = ['one', '--', 'Ana', ...Array.from({ length: 17 }, (_, i) => `> line ${i}`)];
    expect(withoutSignature(mail)).toEqual(['one']);
  });
});

describe('withoutHeaderBlocks', () => {
  it('drops two headers and more in a row, with folded lines and quote marks', () => {
    const mail = `own
From: Bea
To: cooks@x.example,
    bakers@x.example
Subject: eggs

> Date: Monday
> Message-ID: <1@x.example>
more`;
    expect(withoutHeaderBlocks(splitLines(mail))).toEqual(['own', '', 'more']);
  });

  it.each(['Subject: Re: eggs', 'In-Reply-To: <1@x.example>', 'Content-Type: text/plain'])('drops %s alone', (line) => {
    expect(withoutHeaderBlocks(['own', line, 'more'])).toEqual(['own', 'more']);
  });

  it('keeps a line that only looks like a header', () => {
    expect(withoutHeaderBlocks(['From: the kitchen, with love'])).toEqual(['From: the kitchen, with love']);
  });
});

describe('withoutMatter', () => {
  it('counts what each step cut and keeps quotes for the next one', () => {
    const mail = `> eggs?
Yes.
Subject: Re: eggs
-- 
Ana
_______________________________________________
Cooks mailing list
-----Original Message-----
eggs?`;
    expect(withoutMatter(mail)).toEqual({
      lines: ['> eggs?', 'Yes.'],
      cut: { armour: 0, forwarded: 2, footer: 2, signature: 2, headers: 1 },
    });
  });
});
