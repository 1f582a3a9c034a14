import type { Sent } from '../counted-server';
import { FIRST } from '../grown-objects';
import { DRY, type RequestSubject, byNumber, names, numbers, subject } from './request-subject';

const definition = (names: object, versions: readonly object[]): Sent & { readonly path: string } => ({
  path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions?${DRY}`,
  body: {
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing', ...names },
      versions: versions.map((version) => ({ served: true, ...version })),
    },
  },
});

/** Definitions of custom resources. */
export const DEFINITIONS: Readonly<Record<string, RequestSubject>> = {
  'printer columns of a definition': subject(201, 'POST', (count) =>
    definition({}, [
      {
        name: 'v1',
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: byNumber(count, () => ({ type: 'string' })) } },
        additionalPrinterColumns: names(count, 'k').map((name) => ({ name, type: 'string', jsonPath: `.${name}` })),
      },
    ]),
  ),
  'versions of a definition': subject(201, 'POST', (count) =>
    definition(
      { shortNames: names(count), categories: names(count) },
      numbers(count).map((number) => ({
        name: `v${number}`,
        storage: number === FIRST,
        schema: { openAPIV3Schema: { type: 'object' } },
      })),
    ),
  ),
};
