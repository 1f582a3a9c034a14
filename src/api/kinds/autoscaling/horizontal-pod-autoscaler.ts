import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import {
  validateAutoscaler,
  validateAutoscalerStatusUpdate,
  validateAutoscalerToZero,
  validateAutoscalerUpdate,
} from '../../validation/horizontal-pod-autoscaler';
import { defineKind } from '../define-kind';
import { numberAt, stringAt, valueAt } from '../field-values';
import type { Strategy } from '../kind-definition';
import { keepSpec, specStrategy } from '../strategies';
import { statusSubresource } from '../subresources';
import { autoscalerFromV1, autoscalerToV1, withCpuLast } from './autoscaler-conversion-v1';
import { autoscalerFromV2beta1, autoscalerToV2beta1 } from './autoscaler-conversion-v2beta1';
import { defaultAutoscaler } from './autoscaler-defaults';
import { metricsCell } from './metrics-cell';

const strategy: Strategy = {
  ...specStrategy({ currentReplicas: 0, desiredReplicas: 0, currentMetrics: null, conditions: null }),
  validateCreate: validateAutoscaler,
  validateUpdate: validateAutoscalerUpdate,
  canonicalize: withCpuLast,
};

/** The strategy of a server with `--feature-gates=HPAScaleToZero=true`. */
export const scaleToZeroStrategy: Strategy = {
  ...strategy,
  validateCreate: validateAutoscalerToZero,
  validateUpdate: validateAutoscalerToZero,
};

/**
 * In memory it is v2beta2, which has the shape of v2 and says everything that the older versions can; these carry in
 * annotations what they have no fields for. It is written as v1, from which the utilization of the CPU comes back as the
 * last of the metrics.
 */
export const horizontalPodAutoscaler = defineKind({
  group: 'autoscaling',
  kind: 'HorizontalPodAutoscaler',
  resource: 'horizontalpodautoscalers',
  shortNames: ['hpa'],
  categories: ['all'],
  namespaced: true,
  metadataOnUpdate: ['change'],
  versions: [
    { version: 'v1', convert: { toStorage: autoscalerFromV1, fromStorage: autoscalerToV1 } },
    'v2',
    {
      version: 'v2beta1',
      lifecycle: { deprecated: '1.22', removed: '1.25', replacement: 'autoscaling/v2beta2 HorizontalPodAutoscaler' },
      convert: { toStorage: autoscalerFromV2beta1, fromStorage: autoscalerToV2beta1 },
    },
    { version: 'v2beta2', lifecycle: { deprecated: '1.22', removed: '1.25' } },
  ],
  storageVersion: 'v2beta2',
  writtenVersion: 'v1',
  applyDefaults: defaultAutoscaler,
  strategy,
  subresources: [statusSubresource({ prepareForUpdate: keepSpec, validateUpdate: validateAutoscalerStatusUpdate })],
  table: tableOf([
    nameColumn,
    column(
      'Reference',
      'What is scaled.',
      (object) =>
        `${stringAt(object, 'spec', 'scaleTargetRef', 'kind')}/${stringAt(object, 'spec', 'scaleTargetRef', 'name')}`,
    ),
    column('Targets', 'The measured and the wanted values of the metrics.', metricsCell),
    column('MinPods', 'The fewest pods.', (object) => {
      const minimum = valueAt(object, 'spec', 'minReplicas');
      return typeof minimum === 'number' ? String(minimum) : '<unset>';
    }),
    column('MaxPods', 'The most pods.', (object) => numberAt(object, 'spec', 'maxReplicas')),
    column('Replicas', 'How many pods there are.', (object) => numberAt(object, 'status', 'currentReplicas')),
    ageColumn,
  ]),
});
