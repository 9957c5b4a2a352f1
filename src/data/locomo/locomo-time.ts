const SESSION_TIME = /^(\d{1,2}):(\d{2}) (am|pm) on (\d{1,2}) ([A-Z][a-z]+), (\d{4})$/;
const MONTHS = 'January February March April May June July August September October November December'.split(' ');
/** A session has one time: its turns are taken to follow each other after half a minute. */
const STEP_MS = 30_000;

/** The time of `1:56 pm on 8 May, 2023`, in milliseconds since 1970, taken as UTC; null for any other text. */
export function parseSessionTime(text: string): number | null {
  const [, hour, minute, half, day, monthName, year] = SESSION_TIME.exec(text) ?? [];
  const month = MONTHS.indexOf(monthName ?? '');
  if (month < 0 || Number(hour) < 1 || Number(hour) > 12 || Number(minute) > 59) return null;
  const hours = (Number(hour) % 12) + (half === 'pm' ? 12 : 0);
  const time = new Date(Date.UTC(Number(year), month, Number(day), hours, Number(minute)));
  return time.getUTCMonth() === month ? time.getTime() : null; // 31 April would be 1 May
}

/** When a session began, and how many turns it has. */
interface SessionSpan {
  readonly time: number;
  readonly turns: number;
}

/**
 * The times of the turns of each session: its time, and half a minute a turn, or less where the next session is near. All times rise strictly; a session that
 * begins before the last turn of the one before it is moved behind it.
 *
 * @param sessions in time order.
 */
export function computeTurnTimes(sessions: readonly SessionSpan[]): number[][] {
  let free = Number.NEGATIVE_INFINITY;
  return sessions.map(({ time, turns }, i) => {
    const start = Math.max(time, free);
    const next = sessions[i + 1]?.time ?? Number.POSITIVE_INFINITY;
    const step = Math.min(STEP_MS, Math.max(1, Math.floor((next - start) / turns)));
    free = start + step * turns;
    return Array.from({ length: turns }, (_, turn) => start + step * turn);
  });
}
