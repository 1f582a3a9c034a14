/** Whether containers stand in one another more often than that. Does not recurse itself. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  let level: object[] = [];
  addContainer(level, value);
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth === limit) return true;
    const next: object[] = [];
    for (const container of level) for (const inner of Object.values(container)) addContainer(next, inner);
    level = next;
  }
  return false;
}

function addContainer(level: object[], value: unknown): void {
  if (typeof value === 'object' && value !== null) level.push(value);
}
