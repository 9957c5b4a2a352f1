import type { TestedModel, TestResult } from '../experiment/training/test-run.ts';
import { type Touch, times } from '../experiment/training/test-touches.ts';
import type { TrainingConfig } from '../experiment/training/training-config.ts';
import { escapeMarkdown, ladderMarkdown } from './markdown.ts';
import type { LadderTable } from './table.ts';
import { ladderText } from './text-table.ts';
import { methodLadder } from './training-table.ts';

function tableOf({ metrics, level }: TestResult, config: TrainingConfig, model: TestedModel): LadderTable {
  return methodLadder({ metrics, level, config }, model);
}

/** The sentence that a reader of the figures must know. */
function looks(touches: readonly Touch[]): string {
  return `Test split looked at ${times(touches.length)}.`;
}

/** Weights on the test split, for a terminal. @param touches every look at it, this one included */
export function renderTestText(result: TestResult, config: TrainingConfig, touches: readonly Touch[]): string {
  const models = result.models.map(
    (model) => `Model ${model.name}\n\n${ladderText(tableOf(result, config, model), 120, 'method')}`,
  );
  return [...models, `${looks(touches)}\n`].join('\n');
}

export function renderTestMarkdown(result: TestResult, config: TrainingConfig, touches: readonly Touch[]): string {
  const models = result.models.flatMap((model) => {
    const table = tableOf(result, config, model);
    return [`Model ${model.name}:`, ...ladderMarkdown(table, 'method'), table.legend.map(escapeMarkdown).join('\n')];
  });
  const last = touches.at(-1) as Touch;
  const { experiment, dataset } = result;
  const made = `Weights of ${experiment} on ${dataset.name} ${dataset.split}; commit ${last.commit}, backend ${last.backend}; ${last.command}`;
  return `${[...models, looks(touches), escapeMarkdown(made)].join('\n\n')}\n`;
}
