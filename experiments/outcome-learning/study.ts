import { computeHash } from '../../src/core/hash/hash.ts';
import type { Study } from '../study.ts';
import { measurePlanted } from './comparisons.ts';
import { measureMail } from './mail.ts';
import { outcomeLearningSettings } from './settings.ts';
import { buildOutcomeSections } from './tables.ts';

/** Tells whether ranking by recorded outcomes helps, at which number of outcomes, and what exploration costs. */
export const outcomeLearning: Study<typeof outcomeLearningSettings> = {
  name: 'outcome-learning',
  description: 'whether ranking by recorded outcomes helps, at which number of outcomes, and what exploration costs',
  settings: outcomeLearningSettings,
  measure: async (settings, context) => {
    const { strengths, alphas, worlds } = settings.planted;
    const stage = context.progress('worlds', strengths.length * alphas.length * worlds);
    const cells = await measurePlanted(settings, (done) => stage.update(done));
    stage.finish();
    const { hash, dataset, tested, ...mail } = await measureMail(settings, context);
    return {
      dataset: { name: `planted rates; ${dataset}`, hash: computeHash([settings.planted, hash]) },
      tested: [tested],
      figures: { planted: cells, mail },
      sections: buildOutcomeSections(cells, { hash, dataset, tested, ...mail }, settings),
    };
  },
};
