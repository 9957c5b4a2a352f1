import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { computeHash } from '../hash/hash.ts';

/** A seeded stream of random numbers; two streams of one seed with different names are independent. */
export interface Random {
  /** In [0, 1). */
  uniform(): number;
  /** Standard normal. */
  drawNormal(): number;
  /** In 0 … size - 1. */
  integer(size: number): number;
  /** Shuffles in place (Fisher and Yates). */
  shuffle<T>(items: T[]): T[];
}

/** @param name the purpose of the stream, so that adding a consumer does not change the numbers of another. */
export function createRandom(seed: number, name: string): Random {
  const generator = xoroshiro128plus(Number.parseInt(computeHash(`${seed}/${name}`).slice(0, 8), 16) | 0);
  let spare: number | undefined;
  const drawUniform = () => uniformFloat64(generator);
  const drawInteger = (size: number) => uniformInt(generator, 0, size - 1);
  return {
    uniform: drawUniform,
    integer: drawInteger,
    drawNormal() {
      if (spare !== undefined) {
        const value = spare;
        spare = undefined;
        return value;
      }
      const radius = Math.sqrt(-2 * Math.log(1 - drawUniform()));
      const angle = 2 * Math.PI * drawUniform();
      spare = radius * Math.sin(angle);
      return radius * Math.cos(angle);
    },
    shuffle(items) {
      for (let i = items.length - 1; i > 0; i--) {
        const j = drawInteger(i + 1);
        [items[i], items[j]] = [items[j] as (typeof items)[number], items[i] as (typeof items)[number]];
      }
      return items;
    },
  };
}
