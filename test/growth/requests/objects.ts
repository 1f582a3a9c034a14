import { CONFIG_MAPS, listOf, manyConfigMaps, withConfigMap } from './config-maps';
import { DRY, FEW, type RequestSubject, byNumber, names, subject } from './request-subject';

export const OBJECTS: Readonly<Record<string, RequestSubject>> = {
  'ports of a service': subject(201, 'POST', (count) => ({
    path: `/api/v1/namespaces/default/services?${DRY}`,
    body: {
      metadata: { name: 's' },
      spec: {
        type: 'NodePort',
        selector: { a: 'b' },
        ports: names(count).map((name, index) => ({ name, port: index + 1 })),
      },
    },
  })),
  'texts of a secret': subject(201, 'POST', (count) => ({
    path: `/api/v1/namespaces/default/secrets?${DRY}`,
    body: { metadata: { name: 's' }, stringData: byNumber(count, () => 'text') },
  })),
  'owners that are named twice': subject(201, 'POST', (count) => ({
    path: `${CONFIG_MAPS}?${DRY}`,
    body: {
      metadata: {
        name: 'owned',
        ownerReferences: [...names(count), ...names(count)].map((name) => ({
          apiVersion: 'example.com/v1',
          kind: 'Widget',
          name,
          uid: name,
        })),
      },
    },
  })),
  'metrics of an autoscaler': subject(201, 'POST', (count) => ({
    path: `/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers?${DRY}`,
    body: {
      metadata: { name: 'h' },
      spec: {
        maxReplicas: 2,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
        metrics: names(count).map((name) => ({
          type: 'Resource',
          resource: { name, target: { type: 'Utilization', averageUtilization: 50 } },
        })),
      },
    },
  })),
  'fields that nobody knows, with warnings': subject(201, 'POST', (count) => ({
    path: `${CONFIG_MAPS}?${DRY}&fieldValidation=Warn`,
    body: { metadata: { name: 'unknown' }, ...byNumber(count, () => 1) },
  })),
  'fields that nobody knows, strictly': subject(400, 'POST', (count) => ({
    path: `${CONFIG_MAPS}?${DRY}&fieldValidation=Strict`,
    body: { metadata: { name: 'unknown' }, ...byNumber(count, () => 1) },
  })),
  'operations of a JSON patch': subject(
    200,
    'PATCH',
    (count) => ({
      path: `${CONFIG_MAPS}/of-${count}?${DRY}`,
      type: 'application/json-patch+json',
      body: names(count, 'k').map((name) => ({ op: 'replace', path: `/data/${name}`, value: 'b' })),
    }),
    withConfigMap,
  ),
  'fields of a merge patch': subject(
    200,
    'PATCH',
    (count) => ({
      path: `${CONFIG_MAPS}/of-${count}?${DRY}`,
      type: 'application/merge-patch+json',
      body: { data: byNumber(count, () => 'b') },
    }),
    withConfigMap,
  ),
  'fields of an apply that conflict': subject(
    409,
    'PATCH',
    (count) => ({
      path: `${CONFIG_MAPS}/of-${count}?${DRY}&fieldManager=other`,
      type: 'application/apply-patch+yaml',
      body: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: `of-${count}` },
        data: byNumber(count, () => 'b'),
      },
    }),
    withConfigMap,
  ),
  'managers of an object': subject(
    200,
    'PATCH',
    (count) => ({
      path: `${CONFIG_MAPS}/managed-${count}?${DRY}&fieldManager=other&force=true`,
      type: 'application/apply-patch+yaml',
      body: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: `managed-${count}` },
        data: byNumber(count, () => 'c'),
      },
    }),
    async (count, server) => {
      for (const name of names(count, 'k')) {
        const body = {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: `managed-${count}` },
          data: { [name]: 'b' },
        };
        const path = `${CONFIG_MAPS}/managed-${count}?fieldManager=${name}`;
        await server.prepare('PATCH', path, { type: 'application/apply-patch+yaml', body })();
      }
    },
    FEW,
  ),
  'objects of a page': subject(200, 'GET', (count) => ({ path: listOf(count, '?limit=10000') }), manyConfigMaps, FEW),
  'rows of a table': subject(
    200,
    'GET',
    (count) => ({
      path: listOf(count),
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    }),
    manyConfigMaps,
    FEW,
  ),
  'objects of a collection that is deleted': subject(
    200,
    'DELETE',
    (count) => ({
      path: listOf(count, `?${DRY}`),
    }),
    manyConfigMaps,
    FEW,
  ),
  'webhooks of a configuration': subject(201, 'POST', (count) => ({
    path: `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations?${DRY}`,
    body: {
      metadata: { name: 'w' },
      webhooks: names(count).map((name) => ({
        name: `${name}.example.com`,
        clientConfig: { url: 'https://example.com/' },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['nothing'] }],
      })),
    },
  })),
};
