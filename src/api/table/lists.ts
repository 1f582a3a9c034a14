import { listAt, stringAt } from '../kinds/field-values';

/** The first three texts joined by commas, and how many more there are: `a,b,c + 2 more...`. `count`: of all texts. */
export function firstThree(texts: readonly string[], count = texts.length): string {
  const shown = texts.slice(0, 3).join(',');
  return count > 3 ? `${shown} + ${count - 3} more...` : shown;
}

/** The addresses or host names of a load balancer's status, sorted and without duplicates. */
export function loadBalancerAddresses(status: unknown): string {
  const points = listAt(status, 'loadBalancer', 'ingress').map(
    (point) => stringAt(point, 'ip') || stringAt(point, 'hostname'),
  );
  return [...new Set(points.filter((point) => point !== ''))].sort().join(',');
}

const SHORT_ACCESS_MODES: readonly (readonly [mode: string, short: string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

/** Volume access modes in their short form, in a fixed order: `RWO,ROX`. */
export function accessModesText(modes: readonly unknown[]): string {
  return SHORT_ACCESS_MODES.filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',');
}
