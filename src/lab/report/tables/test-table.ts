import type { TestLook } from '../../looks/test-looks.ts';
import type { TestedModel, TestResult } from '../../training/test-run.ts';
import type { TrainingConfig } from '../../training/training-config.ts';
import { buildMethodLadder } from '../training/training-table.ts';
import { escapeMarkdown, formatLadderMarkdown } from './markdown.ts';
import type { LadderTable } from './table.ts';
import { formatLadder } from './text-table.ts';

function buildTestLadder({ metrics, level }: TestResult, config: TrainingConfig, model: TestedModel): LadderTable {
  return buildMethodLadder({ metrics, level, config }, model);
}

/** Weights on the test split, for a terminal. @param looks the lines that say how often the split was looked at */
export function renderTestText(result: TestResult, config: TrainingConfig, looks: readonly string[]): string {
  const models = result.models.map(
    (model) => `Model ${model.name}\n\n${formatLadder(buildTestLadder(result, config, model), 120, 'method')}`,
  );
  return [...models, `${looks.join('\n')}\n`].join('\n');
}

export function renderTestMarkdown(
  result: TestResult,
  config: TrainingConfig,
  looks: readonly string[],
  { commit, backend, command }: Pick<TestLook, 'commit' | 'backend' | 'command'>,
): string {
  const models = result.models.flatMap((model) => {
    const table = buildTestLadder(result, config, model);
    return [
      `Model ${model.name}:`,
      ...formatLadderMarkdown(table, 'method'),
      table.legend.map(escapeMarkdown).join('\n'),
    ];
  });
  const [count = '', ...lines] = looks.map(escapeMarkdown);
  const { experiment, dataset } = result;
  const made = `Weights of ${experiment} on ${dataset.name} ${dataset.split}; commit ${commit}, backend ${backend}; ${command}`;
  return `${[...models, count, lines.join('\n'), escapeMarkdown(made)].join('\n\n')}\n`;
}
