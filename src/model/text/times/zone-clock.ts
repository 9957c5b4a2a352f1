import { ValidationError } from '../../../core/errors/errors.ts';
import { getOrCompute } from '../../../core/values/once.ts';
import { DAY } from './calendar.ts';

function createFormat(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ValidationError(
      `unknown time zone: ${JSON.stringify(timeZone)}; pass an IANA name such as Europe/Berlin, or UTC`,
      { timeZone },
      { cause: error },
    );
  }
}

const clocks = new Map<string, ZoneClock>();

/**
 * Converts between instants (milliseconds UTC) and wall times of a time zone. A wall time is a number too: the milliseconds of an instant at which a clock in UTC
 * shows what the clock of the zone shows. So calendar arithmetic on wall times is that of UTC, where every day has 24 hours.
 */
export class ZoneClock {
  readonly #format: Intl.DateTimeFormat;

  private constructor(timeZone: string) {
    this.#format = createFormat(timeZone);
  }

  /** @throws ValidationError for a time zone that this runtime does not know. */
  static of(timeZone: string): ZoneClock {
    return getOrCompute(clocks, timeZone, () => new ZoneClock(timeZone));
  }

  readWall(instant: number): number {
    const parts = new Map(this.#format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
    const [year, month, day, hour, minute, second] = (
      ['year', 'month', 'day', 'hour', 'minute', 'second'] as const
    ).map((type) => parts.get(type) as number) as [number, number, number, number, number, number];
    return Date.UTC(year, month - 1, day, hour, minute, second) + (((instant % 1000) + 1000) % 1000);
  }

  /**
   * The instant at which the clock shows a wall time. Where the clock is set back it shows the time twice: the first instant. Where the clock is set forward it skips the
   * time: the instant that the clock would have shown it at without the change.
   */
  findInstant(wall: number): number {
    const [before, after] = [wall - DAY, wall + DAY].map((near) => wall - (this.readWall(near) - near)) as [
      number,
      number,
    ];
    const shown = [before, after].filter((instant) => this.readWall(instant) === wall);
    return shown.length === 0 ? before : Math.min(...shown);
  }
}
