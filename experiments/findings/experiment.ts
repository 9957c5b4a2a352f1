import { letEventsIn } from '../../src/core/event-loop.ts';
import { hashOf } from '../../src/core/hash.ts';
import type { Environment } from '../../src/experiment/measure/result.ts';
import { captureEnvironment } from '../../src/experiment/run/environment.ts';
import { type BandError, bandErrors } from './band-errors.ts';
import { type FarMass, farMasses } from './far-mass.ts';
import { type InformationFalls, informationFalls } from './information-falls.ts';
import { type ReversalEffect, reversalEffects } from './literal-ircp.ts';
import { type FindingsContext, loadMeasuredCorpus, type MeasuredCorpus } from './measured-corpus.ts';
import { type PropagationEffect, propagationEffects } from './propagation-effect.ts';
import { saliences } from './salience.ts';
import type { FindingsSettings } from './settings.ts';
import { type ThreadEnergy, threadEnergies } from './thread-energy.ts';

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
  const stage = async <T>(name: string, work: () => Promise<T> | T): Promise<T> => {
    await letEventsIn();
    const shown = progress(name, 1);
    const result = await work();
    shown.finish();
    return result;
  };
  const weights = saliences(measured, settings);
  const [, fading] = weights;
  return {
    reversal: await stage('literal IRCP', () => reversalEffects(measured)),
    farMass: await stage('far mass', () => farMasses(measured, settings)),
    band: await stage('band', () => bandErrors(measured, settings)),
    propagation: await stage('propagation', () => propagationEffects(measured)),
    energySalience: fading.name,
    energy: await stage('energy', () => threadEnergies(measured, fading)),
    falls: await stage('information', () => informationFalls(measured, weights)),
  };
}

/** Loads and embeds a corpus of conversations and measures every finding on it. */
export async function findings(settings: FindingsSettings, context: FindingsContext): Promise<FindingsResult> {
  const { backend, command, progress } = context;
  const { dataset, measured } = await loadMeasuredCorpus(settings, context);
  const { corpus, conversations, dimension } = measured;
  return {
    hash: hashOf([settings, dataset.hash, backend]).slice(0, 12),
    settings,
    environment: captureEnvironment(backend, settings.seed, command),
    dataset: { name: dataset.name, hash: dataset.hash, licence: dataset.declaration.licence },
    corpus: { messages: corpus.size, conversations: conversations.length, dimension },
    measured: await measure(measured, settings, progress),
  };
}
