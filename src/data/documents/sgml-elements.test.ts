import { describe, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { ElementSplitter, splitAtTags } from './sgml-elements.ts';

const TEXT = 'before <DOC>a <b</DOC>\n<doc>\nc</doc> between <DOC></DOC><DOC>d < e > f</DOC\n></DOC> after';
const ELEMENTS = ['a <b', '\nc', '', 'd < e > f</DOC\n>'];

function splitElements(chunks: readonly string[]): string[] {
  const splitter = new ElementSplitter('DOC', 'docs.trec');
  const elements = chunks.flatMap((chunk) => splitter.push(chunk));
  splitter.finish();
  return elements;
}

describe('the elements of a stream', () => {
  test('are their contents, in order', () => {
    expect(splitElements([TEXT])).toEqual(ELEMENTS);
  });

  test('do not depend on where chunks end', () => {
    expect(splitElements([...TEXT])).toEqual(ELEMENTS);
    const stream = createRandom(5, 'chunks');
    for (let i = 0; i < 31; i++) {
      const chunks: string[] = [];
      for (let start = 0; start < TEXT.length; ) {
        const length = 1 + stream.integer(11);
        chunks.push(TEXT.slice(start, start + length));
        start += length;
      }
      expect(splitElements(chunks)).toEqual(ELEMENTS);
    }
  });

  test.each([
    ['<DOC>a', 1],
    ['<DOC>a</DOC><DOC', 0],
    ['<DOC>a</DOC><DOC>', 2],
    ['<DOC>a</DOC><DOC>b<DOC>c</DOC>', 2],
  ])('are closed: %s', (text, count) => {
    const act = () => splitElements([text]);
    if (count === 0) expect(act()).toEqual(['a']);
    else {
      expect(act).toThrow(ValidationError);
      expect(act).toThrow(`<DOC> number ${count} has no </DOC> in: docs.trec; correct the file`);
    }
  });
});

describe('the texts between tags', () => {
  test('belong to the last tag, or to none', () => {
    expect(splitAtTags('x <num> 1 <title>a < b<!-- c --> d</title> e')).toEqual([
      { tag: null, text: 'x ' },
      { tag: 'NUM', text: ' 1 ' },
      { tag: 'TITLE', text: 'a < b' },
      { tag: 'TITLE', text: ' d' },
      { tag: null, text: ' e' },
    ]);
  });

  test('belong to a named tag up to its end', () => {
    expect(splitAtTags('<HL>a <I>b</I> c</HL> <P>d', new Set(['HL']))).toEqual([
      { tag: 'HL', text: 'a ' },
      { tag: 'HL', text: 'b' },
      { tag: 'HL', text: ' c' },
      { tag: null, text: 'd' },
    ]);
  });

  test('have their entities decoded, once', () => {
    const [part] = splitAtTags('AT&amp;T &lt;b&gt; caf&#233; &#x2014; &amp;lt; &hyph; &#55555; &#0; &');
    expect(part?.text).toBe('AT&T <b> café — &lt; &hyph; &#55555; &#0; &');
  });
});
