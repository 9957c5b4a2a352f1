import { stateShown } from '../../../core/display/display.ts';
import { PAGE_STYLE } from './page-style.ts';
import type { ArmPayload, Payload, QueryPayload } from './payload.ts';

/** The light colours of the style sheet, which a browser would compute. */
const COLOURS = new Map(
  [...(PAGE_STYLE.split('@media')[0] ?? '').matchAll(/(--[\w-]+): (#[\da-f]{6});/g)].map(([, name, colour]) => [
    name,
    colour,
  ]),
);

/** Gives a test what a browser gives to the script of a page: the style sheet and a width in pixels. */
export function openPage(width: number): void {
  Object.assign(globalThis, {
    document: { documentElement: null },
    getComputedStyle: () => ({ getPropertyValue: (name: string) => ` ${COLOURS.get(name)}` }),
    matchMedia: (query: string) => ({ matches: width <= Number(/^\(max-width: (\d+)px\)$/.exec(query)?.[1]) }),
  });
}

const buildQueryPayload = (id: string, cluster: number): QueryPayload => ({
  id,
  text: stateShown(`What is <${id}>?`),
  timestamp: 0,
  author: '',
  channel: '',
  cluster,
  turn: -1,
  judged: [],
  judgedElsewhere: 0,
});

export function buildHandmadeArm(name: string, more: Partial<ArmPayload> = {}): ArmPayload {
  return {
    name,
    control: false,
    intervals: [[0.5, 0.41, 0.53]],
    differences: [[0.1, 0.02, 0.11, 0.03]],
    verdicts: ['undecided'],
    perQuery: [[0.5, 0.5, 0.5]],
    components: [],
    rankings: null,
    contributionNames: [],
    reasonTexts: [],
    reasons: null,
    contributions: null,
    coordinateNames: [],
    coordinates: null,
    selects: false,
    lost: null,
    levels: [],
    strata: [],
    fates: [],
    evidence: null,
    conservation: null,
    latency: null,
    ...more,
  };
}

/** Three queries of two conversations and one metric, by arms that are written out. The first arm is the baseline. */
export function buildHandmadePayload(arms: readonly ArmPayload[], more: Partial<Payload> = {}): Payload {
  return {
    metrics: ['mrr@10'],
    signs: [1],
    relevantGrade: 1,
    gradeNames: {},
    baseline: 0,
    level: 0.95,
    reach: 12.7,
    turns: { id: [], text: [], names: [], parent: [], timestamp: [], author: [], channel: [], conversation: [] },
    queries: [buildQueryPayload('a', 0), buildQueryPayload('b', 1), buildQueryPayload('c', 1)],
    strata: [],
    factors: [],
    crossed: false,
    drawn: false,
    fit: null,
    start: -1,
    fates: [],
    budgets: [],
    arms,
    ...more,
  };
}
