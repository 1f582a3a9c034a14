import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import type { KubeObject } from '../../object';
import { defineKind } from '../define-kind';
import { numberAt, valueAt } from '../field-values';
import { pathSegmentName } from '../../validation/names';
import {
  validatePodDisruptionBudget,
  validatePodDisruptionBudgetStatusUpdate,
} from '../../validation/pod-disruption-budget';
import { budgetFromV1, budgetToV1 } from './budget-conversion';
import { keepSpec, specStrategy } from '../strategies';
import { statusSubresource } from '../subresources';

function numberOrPercent(field: string): (budget: KubeObject) => string {
  return (budget) => {
    const value = valueAt(budget, 'spec', field);
    return typeof value === 'string' || typeof value === 'number' ? String(value) : 'N/A';
  };
}

/** The versions have one shape and differ in what an empty selector means. */
export const podDisruptionBudget = defineKind({
  group: 'policy',
  kind: 'PodDisruptionBudget',
  resource: 'poddisruptionbudgets',
  shortNames: ['pdb'],
  namespaced: true,
  metadataOnUpdate: [],
  unqualifiedFinalizers: true,
  versions: [
    { version: 'v1', convert: { toStorage: budgetFromV1, fromStorage: budgetToV1 } },
    {
      version: 'v1beta1',
      lifecycle: { deprecated: '1.21', removed: '1.25', replacement: 'policy/v1 PodDisruptionBudget' },
    },
  ],
  storageVersion: 'v1beta1',
  validateName: pathSegmentName,
  strategy: {
    ...specStrategy({ disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }),
    validateCreate: validatePodDisruptionBudget,
    validateUpdate: validatePodDisruptionBudget,
  },
  subresources: [
    statusSubresource({
      prepareForUpdate: keepSpec,
      validateUpdate: validatePodDisruptionBudgetStatusUpdate,
      metadataOnUpdate: [],
    }),
  ],
  tracksGeneration: true,
  allowUnconditionalUpdate: false,
  table: tableOf([
    nameColumn,
    column('Min Available', 'How many pods must stay.', numberOrPercent('minAvailable')),
    column('Max Unavailable', 'How many pods may be missing.', numberOrPercent('maxUnavailable')),
    column(
      'Allowed Disruptions',
      'How many pods may be evicted now.',
      (object) => numberAt(object, 'status', 'disruptionsAllowed'),
      { type: 'integer' },
    ),
    ageColumn,
  ]),
});
