import { computeHash } from '../../src/core/hash/hash.ts';
import { letEventsIn } from '../../src/core/terminal/progress.ts';
import type { Environment } from '../../src/lab/measure/result.ts';
import { captureEnvironment } from '../../src/lab/run/environment.ts';
import { type BandError, measureBandErrors } from './band-errors.ts';
import { type FarMass, measureFarMasses } from './far-mass.ts';
import { type InformationFalls, listInformationFalls } from './information-falls.ts';
import { measureReversalEffects, type ReversalEffect } from './literal-ircp.ts';
import { type FindingsContext, loadMeasuredCorpus, type MeasuredCorpus } from './measured-corpus.ts';
import { measurePropagationEffects, type PropagationEffect } from './propagation-effect.ts';
import { buildSaliences } from './salience.ts';
import type { FindingsSettings } from './settings.ts';
import { measureThreadEnergies, type ThreadEnergy } from './thread-energy.ts';

export const NAME = 'findings';

/** The measurements, finding by finding. */
interface Measured {
  readonly reversal: readonly ReversalEffect[];
  readonly farMass: readonly FarMass[];
  readonly band: readonly BandError[];
  readonly propagation: readonly PropagationEffect[];
  /** The salience that the energies are of. */
  readonly energySalience: string;
  readonly energy: readonly ThreadEnergy[];
  readonly falls: readonly InformationFalls[];
}

export interface FindingsResult {
  readonly hash: string;
  readonly settings: FindingsSettings;
  readonly environment: Environment;
  readonly dataset: { readonly name: string; readonly hash: string; readonly licence: string };
  readonly corpus: { readonly messages: number; readonly conversations: number; readonly dimension: number };
  readonly measured: Measured;
}

/** Measures every finding, one after the other. */
async function measure(
  measured: MeasuredCorpus,
  settings: FindingsSettings,
  progress: FindingsContext['progress'],
): Promise<Measured> {
  const runFindingsStage = async <T>(name: string, work: () => Promise<T> | T): Promise<T> => {
    await letEventsIn();
    const shown = progress(name, 1);
    const result = await work();
    shown.finish();
    return result;
  };
  const weights = buildSaliences(measured, settings);
  const [, fading] = weights;
  return {
    reversal: await runFindingsStage('literal IRCP', () => measureReversalEffects(measured)),
    farMass: await runFindingsStage('far mass', () => measureFarMasses(measured, settings)),
    band: await runFindingsStage('band', () => measureBandErrors(measured, settings)),
    propagation: await runFindingsStage('propagation', () => measurePropagationEffects(measured)),
    energySalience: fading.name,
    energy: await runFindingsStage('energy', () => measureThreadEnergies(measured, fading)),
    falls: await runFindingsStage('information', () => listInformationFalls(measured, weights)),
  };
}

/** Loads and embeds a corpus of conversations and measures every finding on it. */
export async function measureFindings(settings: FindingsSettings, context: FindingsContext): Promise<FindingsResult> {
  const { backend, command, progress } = context;
  const { dataset, measured } = await loadMeasuredCorpus(settings, context);
  const { corpus, conversations, dimension } = measured;
  return {
    hash: computeHash([settings, dataset.hash, backend]).slice(0, 12),
    settings,
    environment: captureEnvironment(backend, settings.seed, command),
    dataset: { name: dataset.name, hash: dataset.hash, licence: dataset.declaration.licence },
    corpus: { messages: corpus.size, conversations: conversations.length, dimension },
    measured: await measure(measured, settings, progress),
  };
}
