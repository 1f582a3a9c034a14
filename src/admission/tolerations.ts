import type { Toleration } from './pod';

function isEqual(a: Toleration, b: Toleration): boolean {
  return exactKey(a) === exactKey(b);
}

function exactKey({ key = '', operator = '', value = '', effect = '', tolerationSeconds }: Toleration): string {
  // Beyond 2^53 the seconds are a bigint, which JSON.stringify refuses.
  return JSON.stringify([key, operator, value, effect, String(tolerationSeconds)]);
}

/** For how long it tolerates; only what is without end stands for what is without end. */
function seconds({ effect, tolerationSeconds }: Toleration): number {
  return effect === 'NoExecute' ? (tolerationSeconds ?? Infinity) : Infinity;
}

/**
 * Tolerations by what they tolerate. One stands for another of the same key, or of any when it has none and its operator is
 * Exists; of the same effect, or of any when it has none; of the same value, or of any with Exists.
 */
class TolerationIndex {
  private readonly exact = new Set<string>();
  /** The two of each kind that tolerate longest. */
  private readonly longest = new Map<string, readonly Toleration[]>();

  constructor(tolerations: readonly Toleration[] = []) {
    for (const one of tolerations) this.add(one);
  }

  add(one: Toleration): void {
    const exact = exactKey(one);
    if (this.exact.has(exact)) return;
    this.exact.add(exact);
    const { key = '', operator = '', value = '', effect = '' } = one;
    const kind = kindOf(key, operator, value, effect);
    const both = [...(this.longest.get(kind) ?? []), one].sort((a, b) => (seconds(a) < seconds(b) ? 1 : -1));
    this.longest.set(kind, both.slice(0, 2));
  }

  /** Whether one of them, or one that is not equal to it, tolerates everything that `narrow` does. */
  covers(narrow: Toleration, which: 'any' | 'other'): boolean {
    if (which === 'any' && this.exact.has(exactKey(narrow))) return true;
    const { key = '', value = '', effect = '' } = narrow;
    for (const wideEffect of new Set([effect, ''])) {
      const kinds = [kindOf(key, 'Exists', '', wideEffect), kindOf('', 'Exists', '', wideEffect)];
      if (narrow.operator === 'Equal') {
        kinds.push(kindOf(key, 'Equal', value, wideEffect), kindOf(key, '', value, wideEffect));
      }
      for (const kind of kinds) {
        const wide = this.longest.get(kind)?.find((one) => which === 'any' || !isEqual(one, narrow));
        if (wide !== undefined && isAsLong(wide, narrow)) return true;
      }
    }
    return false;
  }
}

function kindOf(key: string, operator: string, value: string, effect: string): string {
  return JSON.stringify([key, effect, operator, operator === 'Exists' ? '' : value]);
}

function isAsLong(wide: Toleration, narrow: Toleration): boolean {
  const bound = seconds(wide);
  return bound === Infinity || (narrow.tolerationSeconds !== undefined && narrow.tolerationSeconds <= bound);
}

/** Both lists, without the tolerations that another one of them covers. Of equal ones the first stays. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): readonly Toleration[] {
  const all = [...first, ...second];
  const later = new TolerationIndex();
  const isCoveredLater = all
    .toReversed()
    .map((one) => {
      const isCovered = later.covers(one, 'other');
      later.add(one);
      return isCovered;
    })
    .reverse();
  const kept = new TolerationIndex();
  return all.filter((one, index) => {
    if (isCoveredLater[index] === true || kept.covers(one, 'any')) return false;
    kept.add(one);
    return true;
  });
}

/** Whether each toleration is covered by one of the allowed ones; an empty list allows all. */
export function areAllowed(tolerations: readonly Toleration[], allowed: readonly Toleration[]): boolean {
  if (allowed.length === 0) return true;
  const index = new TolerationIndex(allowed);
  return tolerations.every((one) => index.covers(one, 'any'));
}
