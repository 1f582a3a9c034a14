const APPS = 100;
const NODES = 500;

/** A pod as a deployment's would be, on one of many nodes. */
export function pod(index: number): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `pod-${index}`, labels: { app: `app-${index % APPS}`, tier: 'web' } },
    spec: {
      nodeName: `node-${index % NODES}`,
      containers: [
        {
          name: 'web',
          image: `registry.example.com/web:${index % 10}`,
          ports: [{ containerPort: 8080 }],
          env: [{ name: 'INDEX', value: String(index) }],
          resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '128Mi' } },
          livenessProbe: { httpGet: { path: '/healthz', port: 8080 } },
        },
      ],
    },
  };
}

/** A definition with a schema of some depth. */
export const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.bench.example.com' },
  spec: {
    group: 'bench.example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: { type: 'integer', minimum: 0 },
                  parts: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
                },
              },
            },
          },
        },
      },
    ],
  },
};
