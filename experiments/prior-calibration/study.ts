import { join } from 'node:path';
import { computeHash } from '../../src/core/hash/hash.ts';
import { loadDataset } from '../../src/data/registry.ts';
import type { Study, StudyContext } from '../study.ts';
import { buildAnsweredSeries } from './answered-series.ts';
import { drawReliability } from './figure.ts';
import { buildHamSeries } from './ham-series.ts';
import { measureTask, type TaskResult } from './measure.ts';
import { findNeighbours } from './neighbours.ts';
import type { OutcomeSeries } from './outcome-series.ts';
import { renderPriorPage } from './page.ts';
import { type PriorCalibrationSettings, priorCalibrationSettings, type TaskName } from './settings.ts';
import { buildPriorSections } from './tables.ts';

async function loadAnswered(settings: PriorCalibrationSettings, { cacheFolder, progress }: StudyContext) {
  const dataset = await loadDataset(settings.dataset, { cacheFolder: join(cacheFolder, 'datasets'), progress });
  return buildAnsweredSeries(dataset, settings.answerHours);
}

/** The series of the tasks, in their order; mails are read once. */
async function loadSeries(settings: PriorCalibrationSettings, context: StudyContext): Promise<OutcomeSeries[]> {
  const isMail = (task: TaskName) => task !== 'answered';
  const mails = settings.tasks.some(isMail) ? await buildHamSeries(settings, context.progress) : null;
  const answered = settings.tasks.every(isMail) ? null : await loadAnswered(settings, context);
  return settings.tasks.map((task) => (task === 'answered' ? answered : mails?.[task]) as OutcomeSeries);
}

/**
 * Tells whether the outcomes of similar earlier turns predict that of a turn, and what a prior's confidence and
 * interval are worth.
 */
export const priorCalibration: Study<typeof priorCalibrationSettings> = {
  name: 'prior-calibration',
  description: 'how well priors over the outcomes of similar earlier turns predict: Brier score, calibration, coverage',
  settings: priorCalibrationSettings,
  measure: async (settings, context) => {
    const tasks: TaskResult[] = [];
    const series = await loadSeries(settings, context);
    for (const one of series) tasks.push(measureTask(await findNeighbours(one, settings, context), settings));
    const figure = drawReliability(tasks);
    return {
      dataset: {
        name: [...new Set(series.map(({ source }) => source))].join('; '),
        hash: computeHash(series.map(({ hash }) => hash)),
      },
      figures: { tasks, figure },
      sections: buildPriorSections(tasks, settings),
      files: (provenance) => ({
        'figure.json': `${JSON.stringify(figure)}\n`,
        'report.html': renderPriorPage(tasks, settings, figure, provenance),
      }),
    };
  },
};
