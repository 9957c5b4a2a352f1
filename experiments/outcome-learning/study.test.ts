import { expect, test } from 'vitest';
import { runStudy } from '../study.harness.ts';
import { createStudyCommand } from '../study.ts';
import type { PlantedCell } from './comparisons.ts';
import type { MailFigures } from './mail.ts';
import { outcomeLearning } from './study.ts';

test('a small run leaves figures of every policy and arm', async () => {
  const { figures, table } = await runStudy(
    createStudyCommand(outcomeLearning),
    'outcome-learning',
    ...['planted.worlds=3', 'planted.topics=7', 'planted.records=4', 'planted.pool=4', 'planted.outcomes=[1, 9]'],
    ...['planted.strengths=[0, 1]', 'planted.alphas=[0.5]', 'samples=2000'],
    ...['mail.arms=[hybrid]', 'mail.answerHours=3', 'mail.shares=[1]', 'mail.failures=[-1]'],
  );
  const { planted, mail } = figures as unknown as { planted: PlantedCell[]; mail: MailFigures };
  const reach = (name: string) =>
    planted.map(({ policies }) => policies.find((policy) => policy.name === name)?.helpsFrom);
  expect(reach('known rates')).toEqual([null, 0]);
  expect(reach('mean')).toEqual([null, null]);
  expect(mail.arms.map(({ rows }) => rows.length)).toEqual([1]);
  expect(mail.queries.test).toBeGreaterThan(0);
  expect(table).toContain('| known rates');
  expect(table).toContain('| failures −1, 100 % recorded |');
});
