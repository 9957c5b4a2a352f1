import { computeHash } from '../../src/core/hash/hash.ts';
import type { Study } from '../study.ts';
import { compareMechanisms, countNullRejections } from './comparisons.ts';
import { drawPlantedFigure } from './figure.ts';
import { measureCells } from './measure.ts';
import { plantedTruthSettings } from './settings.ts';
import { buildPlantedSections, formatPlantedCsv } from './tables.ts';

/** Which mechanism finds what: dependencies are planted in invented conversations, with a strength from none to all. */
export const plantedTruth: Study<typeof plantedTruthSettings> = {
  name: 'planted-truth',
  description: 'which mechanism recovers a dependency on time, thread, entity or correction, and at what strength',
  settings: plantedTruthSettings,
  measure: async (settings, { progress }) => {
    const cells = await measureCells(settings, progress);
    const comparisons = compareMechanisms(cells, settings);
    return {
      dataset: { name: 'synthetic', hash: computeHash(cells.flatMap(({ hashes }) => hashes)) },
      figures: {
        nullControl: countNullRejections(comparisons, settings.level),
        comparisons,
        figure: drawPlantedFigure(comparisons, settings),
      },
      sections: buildPlantedSections(cells, comparisons, settings),
      files: { 'table.csv': formatPlantedCsv(comparisons) },
    };
  },
};
