/** Paths of the kubelet's API. Parameters stand in the order of their names, as Go's clients write them. */

export type Parameters = readonly (readonly [name: string, value: string])[];

export function kubeletPath(segments: readonly string[], parameters: Parameters): string {
  const path = segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
  if (parameters.length === 0) return path;
  const sorted = [...parameters].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `${path}?${sorted.map(([name, value]) => `${escapeQuery(name)}=${escapeQuery(value)}`).join('&')}`;
}

/** As Go's `url.QueryEscape`. */
function escapeQuery(text: string): string {
  return encodeURIComponent(text)
    .replaceAll('%20', '+')
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
