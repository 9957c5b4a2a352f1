import { lookLines, type TestLook } from '../../training/test-looks.ts';
import type { TestedModel, TestResult } from '../../training/test-run.ts';
import type { TrainingConfig } from '../../training/training-config.ts';
import { methodLadder } from '../training/training-table.ts';
import { escapeMarkdown, ladderMarkdown } from './markdown.ts';
import type { LadderTable } from './table.ts';
import { ladderText } from './text-table.ts';

function tableOf({ metrics, level }: TestResult, config: TrainingConfig, model: TestedModel): LadderTable {
  return methodLadder({ metrics, level, config }, model);
}

/** Weights on the test split, for a terminal. @param looks every look at it, this one last */
export function renderTestText(result: TestResult, config: TrainingConfig, looks: readonly TestLook[]): string {
  const models = result.models.map(
    (model) => `Model ${model.name}\n\n${ladderText(tableOf(result, config, model), 120, 'method')}`,
  );
  return [...models, `${lookLines(looks).join('\n')}\n`].join('\n');
}

export function renderTestMarkdown(result: TestResult, config: TrainingConfig, looks: readonly TestLook[]): string {
  const models = result.models.flatMap((model) => {
    const table = tableOf(result, config, model);
    return [`Model ${model.name}:`, ...ladderMarkdown(table, 'method'), table.legend.map(escapeMarkdown).join('\n')];
  });
  const last = looks.at(-1) as TestLook;
  const [count = '', ...lines] = lookLines(looks).map(escapeMarkdown);
  const { experiment, dataset } = result;
  const made = `Weights of ${experiment} on ${dataset.name} ${dataset.split}; commit ${last.commit}, backend ${last.backend}; ${last.command}`;
  return `${[...models, count, lines.join('\n'), escapeMarkdown(made)].join('\n\n')}\n`;
}
