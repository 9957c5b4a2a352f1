/** Milliseconds since 1970 as `2002-08-22 12:36` in UTC. */
export function formatMinute(timestamp: number): string {
  return new Date(timestamp).toISOString().slice(0, 16).replace('T', ' ');
}
