import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildSampleConfig, writeSampleJsonl } from '../lab/run/jsonl.fixture.ts';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-rescore-'));
afterAll(() => rmSync(root, { recursive: true }));
let folder: string;
const readRescoredJson = (...path: string[]) => JSON.parse(readFileSync(join(folder, ...path), 'utf8'));
const rescore = (...flags: string[]) => runRagpp('rescore', folder, ...flags);

beforeAll(async () => {
  writeSampleJsonl(root);
  const config = join(root, 'sample.yaml');
  writeFileSync(config, JSON.stringify(buildSampleConfig(root)));
  const changes = ['--arm', 'newest', '--arm', 'hybrid', '--set', 'arms.hybrid.tune={}'];
  const { code, stderr } = await runRagpp(
    'run',
    config,
    ...changes,
    '--cache',
    join(root, 'cache'),
    '--results',
    join(root, 'runs'),
  );
  expect(stderr).not.toContain('ragpp');
  expect(code).toBe(0);
  folder = join(root, 'runs', readdirSync(join(root, 'runs'))[0] as string);
});

describe('a run is rescored', () => {
  test('by its own definitions to the figures that it had', async () => {
    const { code } = await rescore('--metrics', 'mrr@10,recall@5,ndcg@10,map');
    expect(code).toBe(0);
    const [before, after] = [
      readRescoredJson('metrics.json'),
      readRescoredJson('rescored', 'mrr-10-recall-5-ndcg-10-map', 'metrics.json'),
    ];
    expect(after.passports).toEqual(before.passports);
    const pickFigures = ({ arms }: { arms: Record<string, unknown>[] }) =>
      arms.map(({ name, metrics, comparisons, holes }) => ({ name, metrics, comparisons, holes }));
    expect(pickFigures(after)).toEqual(pickFigures(before));
  });

  test('by others, and the table, the figures and their passports say so', async () => {
    const { code, stdout } = await rescore(
      ...['--metrics', 'mrr@3,p@2', '--granularity', 'conversation', '--judged-only', '--split-unanswerable', 'count'],
      ...['--baseline', 'newest', '--test', 't', '--correction', 'none'],
    );
    expect(code).toBe(0);
    expect(stdout).toContain('mrr@3');
    const [name] = readdirSync(join(folder, 'rescored')).filter((entry) => entry.includes('conversation'));
    expect(name).toBe('mrr-3-p-2-judged-only-unanswerable-counted-conversation-t-none-against-newest');
    const { baseline, queries, passports, statistics } = readRescoredJson('rescored', name as string, 'metrics.json');
    expect({ baseline, queries }).toEqual({ baseline: 'newest', queries: 14 });
    expect(passports['mrr@3']).toMatchObject({
      granularity: 'conversation',
      judgedOnly: true,
      unanswerableAre: 'counted',
      judgedAt: 1,
    });
    expect(statistics).toMatchObject({ test: 't', correction: 'none' });
    const readRescoredTable = (ending: string) =>
      readFileSync(join(folder, 'rescored', name as string, `table.${ending}`), 'utf8');
    expect(readRescoredTable('md')).toContain('newest (baseline)');
    expect(readRescoredTable('tex')).toContain('\\begin{tabular}');
    expect(readRescoredTable('csv')).toMatch(/^arm,.*\nnewest,finished,.*,mrr@3,/s);
  });
});

test.each([
  [['--metrics', 'mrx@3'], 1, 'unknown metric: mrx@3; use mrr@3'],
  [['--metrics', 'mrr', '--relevant-grade', '0'], 2, 'not a number above 0; give the lowest relevant grade'],
  [['--metrics', 'mrr', '--baseline', 'hybird'], 1, 'run has no arm: hybird; use hybrid'],
  [[], 2, '--metrics'],
])('%j is refused', async (flags, code, message) => {
  const outcome = await rescore(...flags);
  expect(outcome.code).toBe(code);
  expect(outcome.stderr).toContain(message);
});

test('a folder that is none of a finished run is named', async () => {
  const { code, stderr } = await runRagpp('rescore', join(root, 'runs'), '--metrics', 'mrr');
  expect(code).toBe(1);
  expect(stderr).toContain(
    `folder has no queries.jsonl: ${join(root, 'runs')}; name the folder of a finished run, or run it again`,
  );
});

test('the run itself stays as it was', () => {
  expect(existsSync(join(folder, 'report.html'))).toBe(true);
  expect(readRescoredJson('metrics.json').baseline).toBe('hybrid');
});
