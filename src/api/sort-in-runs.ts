/** So many are sorted at one stretch. */
const RUN = 32;

function compareNames(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The names in the order of their UTF-16 units. Sorts in place where they are few. */
export function sortNames(names: string[]): string[] {
  return names.length <= RUN ? names.sort() : sortInRuns(names, compareNames);
}

/** As `toSorted`, which cannot be interrupted: short runs are sorted and merged two by two. Stable. */
export function sortInRuns<T>(items: readonly T[], compare: (left: T, right: T) => number): T[] {
  let runs: T[][] = [];
  for (let start = 0; start < items.length; start += RUN) runs.push(items.slice(start, start + RUN).sort(compare));
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let index = 0; index < runs.length; index += 2) {
      const [left, right] = [runs[index] as T[], runs[index + 1]];
      merged.push(right === undefined ? left : mergeRuns(left, right, compare));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function mergeRuns<T>(left: readonly T[], right: readonly T[], compare: (left: T, right: T) => number): T[] {
  const merged: T[] = [];
  let [mine, theirs] = [0, 0];
  while (mine < left.length && theirs < right.length) {
    const isFirst = compare(left[mine] as T, right[theirs] as T) <= 0;
    merged.push((isFirst ? left[mine++] : right[theirs++]) as T);
  }
  for (; mine < left.length; mine++) merged.push(left[mine] as T);
  for (; theirs < right.length; theirs++) merged.push(right[theirs] as T);
  return merged;
}
