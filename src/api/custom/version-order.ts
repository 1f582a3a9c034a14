/** Stable versions come first, then betas, then alphas, the newer of each before the older; other names last. */
const VERSION = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/;
const STABILITY: Readonly<Record<string, number>> = { alpha: 1, beta: 2 };

/** For sorting: negative when `left` is preferred to `right` (API conventions, "Version priority"). */
export function compareVersions(left: string, right: string): number {
  const [a, b] = [rank(left), rank(right)];
  if (a === undefined || b === undefined) {
    if (a === b) return left < right ? -1 : left > right ? 1 : 0;
    return a === undefined ? 1 : -1;
  }
  return compareRanks(a, b);
}

function rank(version: string): readonly number[] | undefined {
  const match = VERSION.exec(version);
  if (match === null) return undefined;
  const [, major, stability, minor] = match;
  return [stability === undefined ? 3 : (STABILITY[stability] ?? 0), Number(major), Number(minor ?? 0)];
}

function compareRanks(left: readonly number[], right: readonly number[]): number {
  for (const [index, value] of left.entries()) {
    const difference = (right[index] ?? 0) - value;
    if (difference !== 0) return difference;
  }
  return 0;
}
