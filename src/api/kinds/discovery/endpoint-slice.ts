import { firstThree } from '../../table/lists';
import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import { validateEndpointSlice, validateEndpointSliceUpdate } from '../../validation/endpoint-slice';
import type { KubeObject } from '../../object';
import { defineKind } from '../define-kind';
import { listAt, stringAt, valueAt } from '../field-values';
import { emptyAsNull } from '../strategies';
import { endpointSliceFromV1, endpointSliceToV1 } from './endpoint-slice-conversion';

const convert = { toStorage: endpointSliceToV1, fromStorage: endpointSliceFromV1 };

function portText(port: unknown): string {
  const number = valueAt(port, 'port');
  if (typeof number === 'number') return String(number);
  const name = valueAt(port, 'name');
  return typeof name === 'string' ? name : '*';
}

function endpointsText(slice: KubeObject): string {
  const shown: string[] = [];
  let count = 0;
  for (const endpoint of listAt(slice, 'endpoints')) {
    const addresses = listAt(endpoint, 'addresses');
    if (count < 3) shown.push(...addresses.slice(0, 3).map(String));
    count += addresses.length;
  }
  return firstThree(shown, count) || '<unset>';
}

const emptyLists = emptyAsNull('endpoints', 'ports');

/** Endpoints that are not sent at all read as null too. */
function prepare(slice: KubeObject): KubeObject {
  return slice['endpoints'] === undefined ? { ...emptyLists(slice), endpoints: null } : emptyLists(slice);
}

export const endpointSlice = defineKind({
  group: 'discovery.k8s.io',
  kind: 'EndpointSlice',
  resource: 'endpointslices',
  namespaced: true,
  metadataOnUpdate: ['own'],
  versions: [
    'v1',
    {
      version: 'v1beta1',
      lifecycle: { deprecated: '1.21', removed: '1.25', replacement: 'discovery.k8s.io/v1 EndpointSlice' },
      convert,
    },
    { version: 'v1alpha1', convert },
  ],
  writtenVersion: 'v1beta1',
  tracksGeneration: true,
  strategy: {
    prepareForCreate: prepare,
    prepareForUpdate: prepare,
    validateCreate: validateEndpointSlice,
    validateUpdate: validateEndpointSliceUpdate,
  },
  table: tableOf([
    nameColumn,
    column('AddressType', 'The type of the addresses.', (object) => stringAt(object, 'addressType')),
    column(
      'Ports',
      'The ports of the endpoints.',
      (object) => firstThree(listAt(object, 'ports').map(portText)) || '<unset>',
    ),
    column('Endpoints', 'The addresses of the endpoints.', endpointsText),
    ageColumn,
  ]),
});
