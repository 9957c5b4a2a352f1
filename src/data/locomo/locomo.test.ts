import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { StorageError, ValidationError } from '../../core/errors/errors.ts';
import { describeDataset } from '../dataset-contract.harness.ts';
import { describeData } from '../prepared/data-folder.harness.ts';
import { ANSWERABLE_CATEGORIES, LOCOMO_CATEGORIES } from '../prepared/datasets.ts';
import { chooseSplitByHash } from '../prepared/prepared.ts';
import { buildLocomoSamples } from './locomo.fixture.ts';
import { type LocomoOptions, loadLocomo } from './locomo.ts';

const folder = mkdtempSync(join(tmpdir(), 'locomo-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const path = write('samples.json', buildLocomoSamples());
const load = (more: Partial<LocomoOptions> = {}) =>
  loadLocomo({ path, categories: ANSWERABLE_CATEGORIES, testConversations: [], ...more });

/** Samples of a file, as far as evidence is concerned. */
type Samples = readonly { readonly sample_id: string; readonly qa: readonly object[] }[];

/** Reads samples whose questions have other evidence. */
const createReassigner =
  (samples: Samples, options: Partial<LocomoOptions> = {}) =>
  (answers: ReadonlyMap<string, string>) => {
    const findEvidence = (queryId: string) => {
      const turnId = answers.get(queryId);
      return turnId === undefined ? {} : { evidence: [turnId.slice(turnId.indexOf('/') + 1)] };
    };
    const changed = samples.map((sample) => ({
      ...sample,
      qa: sample.qa.map((question, i) => ({ ...question, ...findEvidence(`${sample.sample_id}/q${i}`) })),
    }));
    return load({ ...options, path: write('reassigned.json', changed) });
  };

describeDataset('locomo', () => load({ testConversations: ['conv-5'] }), {
  reassigned: createReassigner(buildLocomoSamples(), { testConversations: ['conv-5'] }),
});
describeDataset('locomo, adversarial', () => load({ categories: ['adversarial'] }), {
  reassigned: createReassigner(buildLocomoSamples(), { categories: ['adversarial'] }),
});

describe('loadLocomo', () => {
  it('has the earlier conversation first, and each in the part that the options say', async () => {
    const { queries, qrels, devConversations, facts } = await load({ testConversations: ['conv-5'] });
    expect(queries.map(({ id, split }) => [id, split])).toEqual([
      ['conv-5/q0', 'test'],
      ['conv-7/q0', 'dev'],
      ['conv-7/q1', 'dev'],
      ['conv-7/q3', 'dev'],
    ]);
    expect([...devConversations]).toEqual(['conv-7']);
    expect(Object.fromEntries(qrels.get('conv-7/q1') ?? [])).toEqual({ 'conv-7/D2:1': 1, 'conv-7/D1:2': 1 });
    expect(facts).toMatchObject({
      messages: 7,
      conversations: 2,
      sessions: 5,
      queries: 4,
      'queries, dev': 3,
      'queries, test': 1,
      'queries, open-domain': 0,
      'queries, single-hop': 2,
      judgements: 5,
    });
  });

  it('reads a single sample, also behind a byte order mark', async () => {
    const single = write('single.json', `\ufeff${JSON.stringify(buildLocomoSamples()[1])}`);
    expect((await load({ path: single })).corpus.turns.map(({ id }) => id)).toEqual(['conv-5/D2:1', 'conv-5/D10:1']);
  });

  it('has a hash of the content, not of its order in the file', async () => {
    const { hash } = await load();
    expect((await load({ path: write('turned.json', buildLocomoSamples().reverse()) })).hash).toBe(hash);
    const other = JSON.stringify(buildLocomoSamples()).replace('It is a dog', 'It is a cat');
    expect((await load({ path: write('other.json', other) })).hash).not.toBe(hash);
    expect((await load({ testConversations: ['conv-5'] })).hash).not.toBe(hash);
  });

  it.each([
    ['what is not JSON', '[{"sample_id":\n', /^not JSON \(.+\): .*faulty\.json; name a file like locomo10\.json$/],
    [
      'what is nested deeply',
      `${'['.repeat(5000)}${']'.repeat(5000)}`,
      /^not a LoCoMo file, nested 5000 deep, where at most 256 is read: .*faulty\.json; name a file like locomo10\.json$/,
    ],
    [
      'a sample that is none',
      [...buildLocomoSamples(), 'x'],
      /^1 error in sample \[2\] of .*faulty\.json; correct and run again:/,
    ],
    [
      'a sample twice',
      [...buildLocomoSamples(), ...buildLocomoSamples()],
      /^sample is repeated in .*faulty\.json: conv-5; remove one$/,
    ],
    [
      'no sample',
      [],
      /^no question of multi-hop, temporal, open-domain, single-hop has evidence in: .*faulty\.json; choose other categories$/,
    ],
  ])('refuses %s', async (_, content, message) => {
    const error = await load({ path: write('faulty.json', content) }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ValidationError);
    expect((error as Error).message).toMatch(message);
  });

  it('puts questions into dev or test by their ids, instead of test conversations', async () => {
    const { queries } = await load({ splitQuestions: true });
    expect(queries.map(({ id, split }) => [id, split])).toEqual(
      ['conv-5/q0', 'conv-7/q0', 'conv-7/q1', 'conv-7/q3'].map((id) => [id, chooseSplitByHash(id)]),
    );
    expect(new Set(queries.map(({ split }) => split)).size).toBe(2);
    await expect(load({ splitQuestions: true, testConversations: ['conv-5'] })).rejects.toThrow(
      /^splitQuestions leaves no test conversations: give one of the two$/,
    );
  });

  it('names a test conversation that is not there', async () => {
    await expect(load({ testConversations: ['conv-5', 'conv-6'] })).rejects.toThrow(
      `unknown test conversation: conv-6; use one of conv-5, conv-7 in ${path}`,
    );
  });

  it('says which file can not be read', async () => {
    const error = await load({ path: join(folder, 'none.json') }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(StorageError);
    expect((error as Error).message).toContain('none.json');
  });
});

describeData('the six conversations of the docs', 'locomo/locomo-dev.json', (real) => {
  const options = { categories: LOCOMO_CATEGORIES, testConversations: ['conv-48'] };
  const loadReal = () => load({ ...options, path: real });
  describeDataset('locomo, real', loadReal, {
    reassigned: (answers) => createReassigner(JSON.parse(readFileSync(real, 'utf8')), options)(answers),
  });

  it('have the counts that the docs tell', async () => {
    expect((await loadReal()).facts).toEqual({
      sessions: 157,
      'sessions without a turn': 0,
      'sessions earlier than the number before theirs': 0,
      'times without a session': 16,
      'turns with a picture': 736,
      'skipped: turns without a text': 0,
      'left out: questions of other categories': 0,
      'left out: questions without evidence': 2,
      'evidence that names no turn': 1,
      'evidence without a dialogue id': 1,
      'texts with undecodable characters': 0,
      messages: 3436,
      conversations: 6,
      queries: 1152,
      'queries, dev': 913,
      'queries, test': 239,
      'queries, multi-hop': 162,
      'queries, temporal': 196,
      'queries, open-domain': 47,
      'queries, single-hop': 491,
      'queries, adversarial': 256,
      judgements: 1588,
    });
  });
});
