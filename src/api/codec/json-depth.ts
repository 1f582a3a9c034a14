/** Whether containers stand in one another more often than that. Does not recurse itself. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  let level: readonly object[] = containers([value]);
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth === limit) return true;
    level = level.flatMap((container) => containers(Object.values(container)));
  }
  return false;
}

function containers(values: readonly unknown[]): readonly object[] {
  return values.filter((value): value is object => typeof value === 'object' && value !== null);
}
