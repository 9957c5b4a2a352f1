/**
 * Spellings of other programs by the name of our metric: those of trec_eval (`ndcg_cut_10`, `recip_rank`), ir_measures (`R@10`, `AP`) and ranx (`hit_rate@5`),
 * in lower case, letters only.
 */
const SPELLINGS: Readonly<Record<string, readonly string[]>> = {
  mrr: ['mrr', 'rr', 'reciprank', 'reciprocalrank', 'meanreciprocalrank'],
  recall: ['recall', 'r'],
  p: ['p', 'prec', 'precision'],
  map: ['map', 'ap', 'mapcut', 'averageprecision', 'meanaverageprecision'],
  rprec: ['rprec', 'rprecision'],
  bpref: ['bpref', 'binarypreference'],
  success: ['success', 'hit', 'hits', 'hitrate', 'hr'],
  ndcg: ['ndcg', 'ndcgcut'],
  ndcg_burges: ['ndcgburges'],
  num_rel_ret: ['numrelret', 'relret'],
};

const nameOf: ReadonlyMap<string, string> = new Map(
  Object.entries(SPELLINGS).flatMap(([name, spellings]) => spellings.map((spelling) => [spelling, name] as const)),
);

/** The metric that another program's name stands for. */
interface ForeignMetric {
  /** Of our metric. */
  readonly name: string;
  /** k as written, null if missing. */
  readonly cutoff: string | null;
}

/** The metric with this name in another program: `P_10`, `nDCG@10`, `AP(rel=2)@100`; undefined for an unknown name. */
export function translateMetric(id: string): ForeignMetric | undefined {
  const [, spelling = '', cutoff = null] = /^(.*?)(?:[@_.]?(\d+))?$/.exec(id.replace(/\([^)]*\)/, '')) ?? [];
  const name = nameOf.get(spelling.toLowerCase().replace(/[^a-z]/g, ''));
  return name === undefined ? undefined : { name, cutoff };
}
