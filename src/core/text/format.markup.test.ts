import { expect, test } from 'vitest';
import { encodeScriptJson, html, Markup } from './format.ts';

test('what is put into a template is escaped, in content and in attributes', () => {
  const hostile = `"><img src=x onerror='1'>&amp;`;
  expect(html`<p title="${hostile}">${hostile}</p>`.text).toBe(
    '<p title="&quot;&gt;&lt;img src=x onerror=&#39;1&#39;&gt;&amp;amp;">&quot;&gt;&lt;img src=x onerror=&#39;1&#39;&gt;&amp;amp;</p>',
  );
});

test('markup in markup stays, lists are joined, numbers are written', () => {
  expect(html`<ul>${['a', 'b<'].map((item) => html`<li>${item}</li>`)}</ul>${7}${new Markup('<hr>')}`.text).toBe(
    '<ul><li>a</li><li>b&lt;</li></ul>7<hr>',
  );
});

test('JSON in a script can neither end it nor open a comment, and reads back as it was', () => {
  const value = { text: '</script><!--<script>\u2028\u2029$&', list: [1, null] };
  const { text } = encodeScriptJson(value);
  expect(text).not.toMatch(/[<\u2028\u2029]/);
  expect(JSON.parse(text)).toEqual(value);
});
