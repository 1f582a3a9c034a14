/** How many letters have to be put in, taken out, replaced or exchanged with their neighbour to make one of the other. */
export function editDistance(from: string, to: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const steps = [last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (isSame ? 0 : 1)];
      const isExchanged = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (isExchanged) steps.push(beforeLast[column - 2]! + 1);
      current.push(Math.min(...steps));
    }
    [beforeLast, last] = [last, current];
  }
  return last[to.length]!;
}

/** A name longer than this is no slip of the hand. */
const MAX_LENGTH = 100;

/** The known name that may have been meant: at most a third of its letters are others. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  let nearest: { readonly name: string; readonly distance: number } | undefined;
  for (const candidate of known) {
    const distance = editDistance(name, candidate);
    if (distance > Math.max(1, Math.floor(candidate.length / 3))) continue;
    if (nearest === undefined || distance < nearest.distance) nearest = { name: candidate, distance };
  }
  return nearest?.name;
}
