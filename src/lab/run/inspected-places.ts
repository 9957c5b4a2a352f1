import { decomposeScores } from '../../rank/retrieval/contributions.ts';
import type { RankOptions } from '../../rank/retrieval/written-steps.ts';
import { readArm } from '../../rank/retrieval/written-steps.ts';
import { pairFrames } from '../../rank/signals/frames.ts';
import type { Workspace } from '../../rank/signals/workspace.ts';
import type { InspectedPlaces } from './arm-record.ts';
import { listStrategyWeights } from './memory-reasons.ts';
import { type ArmRanking, listInspectedPairs } from './rankings.ts';

/** What a report shows of the first places of each ranking besides their scores: see {@link InspectedPlaces}. */
export async function inspectPlaces(
  workspace: Workspace,
  options: RankOptions,
  arm: ArmRanking,
  inspect: number,
): Promise<InspectedPlaces> {
  const pairs = listInspectedPairs(arm, inspect);
  const { names, values } = await decomposeScores(workspace, readArm(options), arm.retrieved, pairs);
  const placed = await listPlaceCoordinates(workspace, options, arm, pairs);
  const weights = await listStrategyWeights(workspace, options);
  return { contributionNames: names, contributions: values, ...placed, ...weights };
}

/** Coordinates of the places and of the query in the frame of each; none of an arm without trajectory. */
async function listPlaceCoordinates(
  workspace: Workspace,
  options: RankOptions,
  { retrieved: { pool } }: ArmRanking,
  pairs: Int32Array,
): Promise<Pick<InspectedPlaces, 'coordinateNames' | 'coordinates'>> {
  const { steps, control } = readArm(options);
  const trajectory = steps.find(({ coordinates }) => coordinates !== null)?.coordinates ?? null;
  if (trajectory === null) return { coordinateNames: [], coordinates: new Float32Array(0) };
  const { names, candidates, queries } = await workspace.under(control).get(pairFrames(trajectory, { control }), pool);
  const M = names.length;
  const coordinates = new Float32Array(pairs.length * 2 * M);
  for (const [n, pair] of pairs.entries()) {
    if (pair < 0) continue;
    coordinates.set(candidates.subarray(pair * M, (pair + 1) * M), n * 2 * M);
    coordinates.set(queries.subarray(pair * M, (pair + 1) * M), (n * 2 + 1) * M);
  }
  return { coordinateNames: names, coordinates };
}
