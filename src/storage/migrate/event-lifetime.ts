/** Events are the only objects that end by themselves. */
const EVENTS = 'events/';
/** What has outlived its time, or does not say its age, is not worth more. */
const LEAST_SECONDS = 60;

interface EventTimes {
  readonly metadata?: { readonly creationTimestamp?: string };
  readonly lastTimestamp?: string;
  readonly eventTime?: string;
  readonly series?: { readonly lastObservedTime?: string };
}

/**
 * How long a copied value has still to live; undefined: for ever. Stores do not tell how much is left of a value's time,
 * but an Event says when it was seen last. One that cannot be read (kube-apiserver writes Protobuf) gets all of its time
 * anew.
 *
 * @param path the key without the registry's root
 * @param eventTtlSeconds how long Events live after their last change
 */
export function remainingSeconds(
  path: string,
  value: Buffer,
  eventTtlSeconds: number,
  nowMs: number,
): number | undefined {
  if (!path.startsWith(EVENTS)) return undefined;
  const seenMs = lastSeenMs(value);
  if (seenMs === undefined) return eventTtlSeconds;
  const ageSeconds = Math.max(0, Math.floor((nowMs - seenMs) / 1000));
  return Math.max(eventTtlSeconds - ageSeconds, Math.min(LEAST_SECONDS, eventTtlSeconds));
}

function lastSeenMs(value: Buffer): number | undefined {
  let event: EventTimes;
  try {
    event = JSON.parse(value.toString('utf8')) as EventTimes;
  } catch {
    return undefined;
  }
  const { metadata, lastTimestamp, eventTime, series } = event;
  const times = [metadata?.creationTimestamp, lastTimestamp, eventTime, series?.lastObservedTime]
    .map((text) => Date.parse(text ?? ''))
    .filter((time) => !Number.isNaN(time));
  return times.length === 0 ? undefined : Math.max(...times);
}
