/** The largest number of seeds that an arm was run with; 1 where none was repeated. */
export function countSeeds(arms: readonly { readonly seeds?: { readonly count: number } | undefined }[]): number {
  return Math.max(1, ...arms.map(({ seeds }) => seeds?.count ?? 1));
}
