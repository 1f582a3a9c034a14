import type { Toleration } from './pod';

function isEqual(a: Toleration, b: Toleration): boolean {
  return (
    (a.key ?? '') === (b.key ?? '') &&
    (a.operator ?? '') === (b.operator ?? '') &&
    (a.value ?? '') === (b.value ?? '') &&
    (a.effect ?? '') === (b.effect ?? '') &&
    a.tolerationSeconds === b.tolerationSeconds
  );
}

/** Whether `wide` tolerates everything that `narrow` does. */
function covers(wide: Toleration, narrow: Toleration): boolean {
  if (isEqual(wide, narrow)) return true;
  const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = wide;
  // Without a key, Exists stands for all keys and values; without an effect, any toleration stands for all effects.
  if ((narrow.key ?? '') !== key && !(key === '' && operator === 'Exists')) return false;
  if ((narrow.effect ?? '') !== effect && effect !== '') return false;
  if (effect === 'NoExecute' && tolerationSeconds !== undefined) {
    if (narrow.tolerationSeconds === undefined || narrow.tolerationSeconds > tolerationSeconds) return false;
  }
  if (operator === 'Exists') return true;
  return (operator === 'Equal' || operator === '') && narrow.operator === 'Equal' && (narrow.value ?? '') === value;
}

/** Both lists, without the tolerations that another one of them covers. Of equal ones the first stays. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): readonly Toleration[] {
  const all = [...first, ...second];
  const merged: Toleration[] = [];
  all.forEach((one, index) => {
    const redundant =
      merged.some((kept) => covers(kept, one)) ||
      all.slice(index + 1).some((later) => !isEqual(later, one) && covers(later, one));
    if (!redundant) merged.push(one);
  });
  return merged;
}

/** Whether each toleration is covered by one of the allowed ones; an empty list allows all. */
export function areAllowed(tolerations: readonly Toleration[], allowed: readonly Toleration[]): boolean {
  return allowed.length === 0 || tolerations.every((one) => allowed.some((wide) => covers(wide, one)));
}
