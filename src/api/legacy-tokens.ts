import type { KubeObject } from './object';

/**
 * Service account tokens out of secrets never end by themselves. The server writes down on which day one was used last; what has not
 * been used for long is first marked as invalid and later deleted.
 */
export const LAST_USED_LABEL = 'kubernetes.io/legacy-token-last-used';
export const INVALID_SINCE_LABEL = 'kubernetes.io/legacy-token-invalid-since';

/** In kube-system: since when uses are written down (`since` of its data). */
export const TRACKING_CONFIG_MAP = 'kube-apiserver-legacy-service-account-token-tracking';

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** The day in UTC, as `2006-01-02`. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

export function isDay(text: unknown): text is string {
  return typeof text === 'string' && DAY.test(text) && !Number.isNaN(Date.parse(text));
}

/** What is to be written down of a use now. Undefined: it is known; servers' clocks may be on two sides of midnight. */
export function dayToNote({ metadata: { labels } }: KubeObject, now: number): string | undefined {
  const known = labels?.[LAST_USED_LABEL];
  const today = dayOf(now);
  return known === today || known === dayOf(now + 24 * 60 * 60_000) ? undefined : today;
}
