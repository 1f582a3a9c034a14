import type { CountedServer } from '../counted-server';
import { CONFIG_MAPS } from './config-maps';
import {
  DRY,
  FEW,
  type RequestSubject,
  byNumber,
  container,
  inNamespace,
  names,
  podIn,
  subject,
} from './request-subject';

const ONE_CPU = { resources: { limits: { cpu: '1' } } };

/** Their status, too, which nobody else sets here. */
async function withQuotas(
  server: CountedServer,
  namespace: string,
  quotas: readonly string[],
  hard: Readonly<Record<string, string>>,
): Promise<void> {
  await inNamespace(server, namespace, []);
  const path = `/api/v1/namespaces/${namespace}/resourcequotas`;
  for (const name of quotas) {
    const quota = { metadata: { name }, spec: { hard } };
    await server.create(path, quota);
    const used = Object.fromEntries(Object.keys(hard).map((one) => [one, '1']));
    const { status, text } = await server.prepare('PUT', `${path}/${name}/status`, {
      body: { ...quota, status: { hard, used } },
    })();
    if (status !== 200) throw new Error(text);
  }
}

export const ADMISSION: Readonly<Record<string, RequestSubject>> = {
  'limits and containers': subject(
    // Defaults of a few thousand have no room in the annotation that tells of them.
    [201, 413, 422],
    'POST',
    (count) => podIn(`limits-${count}`, { containers: names(count).map((name) => container(name)) }),
    (count, server) =>
      inNamespace(server, `limits-${count}`, [
        [
          `/api/v1/namespaces/limits-${count}/limitranges`,
          {
            metadata: { name: 'l' },
            spec: {
              limits: [
                {
                  type: 'Container',
                  max: Object.fromEntries(names(count).map((name) => [`example.com/${name}`, '1'])),
                },
              ],
            },
          },
        ],
      ]),
  ),
  'limit ranges and containers': subject(
    201,
    'POST',
    (count) =>
      podIn(`ranges-${count}`, {
        containers: names(count).map((name) => container(name, { resources: { limits: { cpu: '1' } } })),
      }),
    (count, server) =>
      inNamespace(
        server,
        `ranges-${count}`,
        names(count).map(
          (name) =>
            [
              `/api/v1/namespaces/ranges-${count}/limitranges`,
              { metadata: { name }, spec: { limits: [{ type: 'Container', max: { cpu: '2' } }] } },
            ] as const,
        ),
      ),
    FEW,
  ),
  'quotas and containers': subject(
    403,
    'POST',
    (count) => podIn(`quotas-${count}`, { containers: names(count).map((name) => container(name, ONE_CPU)) }),
    (count, server) => withQuotas(server, `quotas-${count}`, names(count), { 'limits.cpu': '1' }),
    FEW,
  ),
  'names of a quota and containers': subject(
    201,
    'POST',
    (count) => podIn(`quota-${count}`, { containers: names(count).map((name) => container(name)) }),
    (count, server) =>
      withQuotas(
        server,
        `quota-${count}`,
        ['q'],
        Object.fromEntries(names(count).map((name) => [`requests.example.com/${name}`, '1'])),
      ),
  ),
  'containers that pod security refuses': subject(
    403,
    'POST',
    (count) =>
      podIn('secure', {
        containers: names(count).map((name, index) =>
          container(name, {
            securityContext: { privileged: true, capabilities: { add: [name] } },
            ports: [{ containerPort: 1, hostPort: index + 1 }],
          }),
        ),
      }),
    (_count, server) =>
      inNamespace(server, 'secure', [], { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } }),
  ),
  'node selectors of a namespace and its pod': subject(
    201,
    'POST',
    (count) => podIn(`selects-${count}`, { nodeSelector: byNumber(count, () => 'a') }),
    (count, server) =>
      inNamespace(server, `selects-${count}`, [], {
        annotations: {
          'scheduler.alpha.kubernetes.io/node-selector': names(count, 'k')
            .map((name) => `${name}=a`)
            .join(),
        },
      }),
  ),
  'tolerations of a namespace and its pod': subject(
    403,
    'POST',
    (count) =>
      podIn(`tolerates-${count}`, { tolerations: names(count, 'x').map((key) => ({ key, operator: 'Exists' })) }),
    (count, server) =>
      inNamespace(server, `tolerates-${count}`, [], {
        annotations: {
          'scheduler.alpha.kubernetes.io/tolerationsWhitelist': JSON.stringify(
            names(count).map((key) => ({ key, operator: 'Exists' })),
          ),
          'scheduler.alpha.kubernetes.io/defaultTolerations': JSON.stringify(
            names(count, 'x').map((key) => ({ key, operator: 'Exists' })),
          ),
        },
      }),
  ),
  'secrets of an account and volumes of its pod': subject(
    201,
    'POST',
    (count) =>
      podIn(`secrets-${count}`, {
        serviceAccountName: 'strict',
        volumes: names(count).map((name) => ({ name, secret: { secretName: name } })),
        imagePullSecrets: names(count).map((name) => ({ name })),
      }),
    (count, server) =>
      inNamespace(server, `secrets-${count}`, [
        [
          `/api/v1/namespaces/secrets-${count}/serviceaccounts`,
          {
            metadata: { name: 'strict', annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } },
            secrets: names(count).map((name) => ({ name })),
            imagePullSecrets: names(count).map((name) => ({ name })),
          },
        ],
      ]),
  ),
  'owners of an object': subject(201, 'POST', (count) => ({
    path: `${CONFIG_MAPS}?${DRY}`,
    body: {
      metadata: {
        name: 'owned',
        ownerReferences: names(count).map((name) => ({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          name,
          uid: name,
          blockOwnerDeletion: true,
        })),
      },
    },
  })),
  'volumes, mounts and containers': subject(
    201,
    'POST',
    (count) =>
      podIn('default', {
        volumes: names(count).map((name) => ({ name, emptyDir: {} })),
        containers: names(count).map((name) => container(name, { volumeMounts: [{ name, mountPath: `/${name}` }] })),
      }),
    (_count, server) => inNamespace(server, 'default', []),
  ),
};
