import { firstThree } from '../../table/lists';
import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import { validateEndpoints } from '../../validation/endpoints';
import { defineKind } from '../define-kind';
import { listAt, numberAt, stringAt } from '../field-values';

function hostAndPort(ip: string, port: number): string {
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
}

/** The first three addresses with each of the first three ports: more of them are counted and not shown. */
function subsetTexts(subset: unknown): readonly string[] {
  const ips = listAt(subset, 'addresses')
    .slice(0, 3)
    .map((address) => stringAt(address, 'ip'));
  const ports = listAt(subset, 'ports').slice(0, 3);
  // Services without ports (headless ones) have addresses alone.
  if (ports.length === 0) return ips;
  return ports.flatMap((port) => ips.map((ip) => hostAndPort(ip, numberAt(port, 'port'))));
}

function firstTexts(subsets: readonly unknown[]): readonly string[] {
  const texts: string[] = [];
  for (const subset of subsets) {
    texts.push(...subsetTexts(subset));
    if (texts.length >= 3) break;
  }
  return texts;
}

/** An endpoint is an address with a port. */
function countEndpoints(subset: unknown): number {
  return listAt(subset, 'addresses').length * Math.max(1, listAt(subset, 'ports').length);
}

export const endpoints = defineKind({
  group: '',
  kind: 'Endpoints',
  resource: 'endpoints',
  shortNames: ['ep'],
  namespaced: true,
  versions: ['v1'],
  storagePrefix: 'services/endpoints',
  strategy: { validateCreate: validateEndpoints, validateUpdate: validateEndpoints },
  allowCreateOnUpdate: true,
  table: tableOf([
    nameColumn,
    column('Endpoints', 'The addresses and ports that are ready.', (object) => {
      const subsets = listAt(object, 'subsets');
      return subsets.length === 0
        ? '<none>'
        : firstThree(
            firstTexts(subsets),
            subsets.reduce<number>((sum, subset) => sum + countEndpoints(subset), 0),
          );
    }),
    ageColumn,
  ]),
});
