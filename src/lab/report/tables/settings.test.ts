import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { ArmResult } from '../../measure/result.ts';
import { renderSettings } from '../page/html.ts';
import { buildHandmadeResult } from './result.fixture.ts';

const result = buildHandmadeResult();
const [first, second] = result.arms as [ArmResult, ArmResult];

const tuned = { 'relevance.fusion.method': 'convex', 'decay.halfLifeHours': 48, sources: ['a', null] };

test('an arm has what tuning chose, words as they are and all else as JSON; those without are counted', () => {
  const arms = [
    { ...second, name: 'b', tuned: {} },
    { ...first, name: 'a & z', tuned },
  ];
  const { text } = renderSettings({ ...result, arms });
  const rows = [
    ...text.matchAll(/<tr data-arm="(.*?)"><th scope="row" class="arm">(.*?)<\/th><td class="tuned">(.*?)<\/td>/g),
  ];
  expect(rows.map(([, arm, name, cell = '']) => [arm, name, cell.replace(/<[^>]*>/g, '').trim()])).toEqual([
    ['a &amp; z', 'a &amp; z', 'relevance.fusion.method convex decay.halfLifeHours 48 sources [&quot;a&quot;,null]'],
  ]);
  expect(text).toContain('Nothing was tuned in 1 of 2 arms.');
});

test('where every arm or none was tuned, that is all', () => {
  const every = renderSettings({ ...result, arms: [{ ...first, tuned }] }).text;
  expect(every).not.toContain('Nothing was tuned');
  const none = renderSettings({ ...result, arms: [first, second].map((arm) => ({ ...arm, tuned: {} })) }).text;
  expect(none).toContain('<p>Nothing was tuned in any of 2 arms.</p>');
  expect(none).not.toContain('<table');
});

test('the config is YAML that reads back', () => {
  const config = { name: 'x', note: 'yes', seed: 7, arms: [{ name: 'a: b', decay: null }] };
  const { text } = renderSettings({ ...result, config });
  expect(parse(/<pre[^>]*>([\s\S]*)<\/pre>/.exec(text)?.[1]?.replaceAll('&quot;', '"') ?? '')).toEqual(config);
});
