/** Whether containers stand in one another more often than that. Does not recurse itself. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  let level: object[] = [];
  addContainer(level, value);
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth === limit) return true;
    const next: object[] = [];
    for (const container of level) {
      if (Array.isArray(container)) for (const inner of container as readonly unknown[]) addContainer(next, inner);
      else for (const name in container) addContainer(next, (container as Readonly<Record<string, unknown>>)[name]);
    }
    level = next;
  }
  return false;
}

function addContainer(level: object[], value: unknown): void {
  if (typeof value === 'object' && value !== null) level.push(value);
}
