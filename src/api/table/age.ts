const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}

/**
 * A duration (milliseconds) as kubectl prints it: two or three significant digits, the units growing with the length:
 * `44s`, `4m51s`, `3h2m`, `5d`, `2y100d`. Up to one second before zero counts as zero, further back is `<invalid>`.
 */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / SECOND);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 60 * 2) return `${seconds}s`;
  const minutes = Math.trunc(milliseconds / MINUTE);
  if (minutes < 10) return pair(minutes, 'm', seconds % 60, 's');
  if (minutes < 60 * 3) return `${minutes}m`;
  const hours = Math.trunc(milliseconds / HOUR);
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(milliseconds / DAY);
  if (hours < 24 * 8) return pair(days, 'd', hours % 24, 'h');
  if (hours < 24 * 365 * 2) return `${days}d`;
  const years = Math.trunc(milliseconds / YEAR);
  if (hours < 24 * 365 * 8) return pair(years, 'y', days % 365, 'd');
  return `${years}y`;
}

/** The time from `timestamp` (RFC 3339) to `now` (milliseconds since the epoch); `<unknown>` for no time. */
export function ageOf(timestamp: string | null | undefined, now: number): string {
  return timestamp === undefined || timestamp === null || timestamp === ''
    ? '<unknown>'
    : humanDuration(now - Date.parse(timestamp));
}
