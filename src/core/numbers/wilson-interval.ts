/**
 * The interval of a share of which `hits` of n draws were seen, by Wilson: the shares p with |hits / n - p| <= z sqrt(p (1 - p) / n).
 *
 * @param z standard normal quantile of the confidence; 3.29 for 99.9 %. Source: wilson1927interval.
 */
export function wilsonInterval(hits: number, n: number, z: number): { readonly low: number; readonly high: number } {
  const share = hits / n;
  const spread = (z * z) / n;
  const centre = share + spread / 2;
  const reach = Math.sqrt(spread * (share * (1 - share) + spread / 4));
  return {
    low: hits === 0 ? 0 : Math.max(0, (centre - reach) / (1 + spread)),
    high: hits === n ? 1 : Math.min(1, (centre + reach) / (1 + spread)),
  };
}
