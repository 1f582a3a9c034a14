import type { CountedServer, Prepared, Sent } from './counted-server';
import { FIRST } from './grown-objects';
import type { Sizes } from './subject';

/** A request of which one part is of a given size. */
export interface RequestSubject {
  /** What it is answered with; several where a bound ends the growth. */
  readonly status: number | readonly number[];
  /** Absent: the usual ones. */
  readonly sizes?: Sizes;
  readonly prepare: (count: number, server: CountedServer) => Promise<Prepared>;
}

/** Where there have to be as many objects before. */
const FEW: Sizes = { smallest: 4, doublings: 6 };
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const DRY = 'dryRun=All';

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => FIRST + index);
}

function byNumber<T>(count: number, valueOf: (number: number) => T): Readonly<Record<string, T>> {
  return Object.fromEntries(numbers(count).map((number) => [`k-${number}`, valueOf(number)]));
}

function subject(
  status: RequestSubject['status'],
  method: string,
  make: (count: number) => Sent & { readonly path: string },
  before?: (count: number, server: CountedServer) => Promise<void>,
  sizes?: Sizes,
): RequestSubject {
  return {
    status,
    ...(sizes === undefined ? {} : { sizes }),
    prepare: async (count, server) => {
      await before?.(count, server);
      const { path, ...sent } = make(count);
      return server.prepare(method, path, sent);
    },
  };
}

/** A namespace for each size, with objects of it. */
async function inNamespace(
  server: CountedServer,
  name: string,
  objects: readonly (readonly [path: string, object: object])[],
  metadata: object = {},
): Promise<void> {
  await server.create('/api/v1/namespaces', { metadata: { name, ...metadata } });
  await server.create(`/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'default' } });
  for (const [path, object] of objects) await server.create(path, object);
}

const names = (count: number, prefix = 'n'): readonly string[] => numbers(count).map((number) => `${prefix}-${number}`);
const container = (name: string, more: object = {}): object => ({ name, image: 'a', ...more });
const pod = (spec: object): object => ({
  metadata: { name: 'p' },
  spec: { serviceAccountName: 'default', automountServiceAccountToken: false, containers: [container('c')], ...spec },
});
const podIn = (namespace: string, spec: object): Sent & { readonly path: string } => ({
  path: `/api/v1/namespaces/${namespace}/pods?${DRY}`,
  body: pod(spec),
});
const rulesOn = (resources: readonly string[]): readonly object[] =>
  resources.map((resource) => ({ apiGroups: [''], resources: [resource], verbs: ['get'] }));

/** The user holds a role of these rules, and may write roles. */
function holding(rulesOf: (count: number) => readonly object[]) {
  return async (count: number, server: CountedServer): Promise<void> => {
    const name = 'held';
    const writing = { apiGroups: ['rbac.authorization.k8s.io'], resources: ['*'], verbs: ['create', 'patch', 'get'] };
    const body = { metadata: { name }, rules: [writing, ...rulesOf(count)] };
    const { status, text } = await server.prepare('PUT', `${RBAC}/clusterroles/${name}`, { body })();
    if (status >= 300) throw new Error(text);
    await server.create(`${RBAC}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'user' }],
    });
    // The authorizer hears of it as of any other change.
    await new Promise((resolve) => setTimeout(resolve, 50));
  };
}

const roleOf = (rules: readonly object[]): Sent & { readonly path: string } => ({
  path: `${RBAC}/namespaces/default/roles?${DRY}`,
  body: { metadata: { name: 'r' }, rules },
  as: 'user',
});
const configMap = (count: number): object => ({ metadata: { name: `of-${count}` }, data: byNumber(count, () => 'a') });
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const withConfigMap = (count: number, server: CountedServer): Promise<void> =>
  server.create(CONFIG_MAPS, configMap(count));
const manyConfigMaps = (count: number, server: CountedServer): Promise<void> =>
  inNamespace(
    server,
    `maps-${count}`,
    names(count).map((name) => [`/api/v1/namespaces/maps-${count}/configmaps`, { metadata: { name } }] as const),
  );
const listOf = (count: number, query = ''): string => `/api/v1/namespaces/maps-${count}/configmaps${query}`;

const HEADERS: Readonly<Record<string, RequestSubject>> = {
  'media types that are accepted': subject(200, 'GET', (count) => ({
    path: '/api/v1/namespaces/default',
    headers: { accept: [...names(count).map((name) => `text/${name};q=0.5`), 'application/json'].join() },
  })),
  'encodings that are accepted': subject(200, 'GET', (count) => ({
    path: '/api/v1/namespaces/default',
    headers: { 'accept-encoding': names(count).join() },
  })),
  'groups that are impersonated': subject(
    200,
    'GET',
    (count) => ({
      path: '/api/v1/namespaces/default',
      headers: { 'impersonate-user': 'admin', 'impersonate-group': [...names(count), 'system:masters'] },
    }),
    undefined,
    { smallest: 4, doublings: 6 },
  ),
  'extra values that are impersonated': subject(
    200,
    'GET',
    (count) => ({
      path: '/api/v1/namespaces/default',
      headers: {
        'impersonate-user': 'admin',
        'impersonate-group': 'system:masters',
        ...Object.fromEntries(names(count).map((name) => [`impersonate-extra-${name}`, name])),
      },
    }),
    undefined,
    { smallest: 4, doublings: 6 },
  ),
  'parameters of a query': subject(200, 'GET', (count) => ({
    path: `/api/v1/namespaces/default?${names(count).join('&')}`,
  })),
  'parts of a path': subject(404, 'GET', (count) => ({ path: `/apis/${names(count).join('/')}` })),
  'terms of a label selector': subject(
    200,
    'GET',
    (count) => ({
      path: `${CONFIG_MAPS}?labelSelector=${names(count)
        .map((name) => `!${name}`)
        .join()}`,
    }),
    withConfigMap,
  ),
  'values of a label selector': subject(
    200,
    'GET',
    (count) => ({
      path: `${CONFIG_MAPS}?labelSelector=${encodeURIComponent(`a in (${names(count).join()})`)}`,
    }),
    withConfigMap,
  ),
  'terms of a field selector': subject(
    200,
    'GET',
    (count) => ({
      path: `${CONFIG_MAPS}?fieldSelector=${names(count)
        .map((name) => `metadata.name!=${name}`)
        .join()}`,
    }),
    withConfigMap,
  ),
};

const REVIEWS: Readonly<Record<string, RequestSubject>> = {
  'groups of an access review': subject(201, 'POST', (count) => ({
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: { spec: { user: 'user', groups: names(count), resourceAttributes: { verb: 'get', resource: 'pods' } } },
  })),
  'extra values of an access review': subject(201, 'POST', (count) => ({
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: {
      spec: {
        user: 'user',
        extra: byNumber(count, (number) => [`v-${number}`]),
        nonResourceAttributes: { verb: 'get', path: '/a' },
      },
    },
  })),
  'audiences of a token review': subject(201, 'POST', (count) => ({
    path: '/apis/authentication.k8s.io/v1/tokenreviews',
    body: { spec: { token: 'user', audiences: names(count) } },
  })),
  'parts of a token': subject(201, 'POST', (count) => ({
    path: '/apis/authentication.k8s.io/v1/tokenreviews',
    body: { spec: { token: names(count).join('.') } },
  })),
  'audiences of a token request': subject(
    201,
    'POST',
    (count) => ({
      path: '/api/v1/namespaces/default/serviceaccounts/default/token',
      body: { spec: { audiences: names(count), expirationSeconds: 600 } },
    }),
    (_count, server) => inNamespace(server, 'default', []),
  ),
  'bytes of a certificate request': subject(422, 'POST', (count) => ({
    path: `/apis/certificates.k8s.io/v1/certificatesigningrequests?${DRY}`,
    body: {
      metadata: { name: 'c' },
      spec: {
        signerName: 'example.com/signer',
        usages: ['client auth'],
        request: Buffer.from(
          `-----BEGIN CERTIFICATE REQUEST-----\n${'MAA=\n'.repeat(count)}-----END CERTIFICATE REQUEST-----\n`,
        ).toString('base64'),
      },
    },
  })),
  'rules of a rules review': subject(
    201,
    'POST',
    () => ({
      path: '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
      body: { spec: { namespace: 'default' } },
      as: 'user',
    }),
    holding((count) => rulesOn(names(count))),
  ),
  'rules that permit nothing of what is asked': subject(
    403,
    'GET',
    () => ({ path: '/api/v1/nodes', as: 'user' }),
    holding((count) => rulesOn(names(count))),
  ),
  'bindings of a user': subject(
    201,
    'POST',
    (count) => ({
      path: '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
      body: { spec: { namespace: `bound-${count}` } },
      as: 'user',
    }),
    async (count, server) => {
      const path = `${RBAC}/namespaces/bound-${count}`;
      const binding = (name: string): object => ({
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'user' }],
      });
      await inNamespace(
        server,
        `bound-${count}`,
        names(count).flatMap((name) => [
          [`${path}/roles`, { metadata: { name }, rules: rulesOn([name]) }] as const,
          [`${path}/rolebindings`, binding(name)] as const,
        ]),
      );
    },
    FEW,
  ),
};

const ESCALATION: Readonly<Record<string, RequestSubject>> = {
  'rules of a role that its writer holds': subject(
    201,
    'POST',
    (count) => roleOf(rulesOn(names(count))),
    holding((count) => rulesOn(names(count))),
  ),
  'rules of a role that its writer does not hold': subject(
    403,
    'POST',
    (count) => roleOf(rulesOn(names(count, 'x'))),
    holding((count) => rulesOn(names(count))),
  ),
  'names of a rule that its writer holds': subject(
    201,
    'POST',
    (count) => roleOf([{ apiGroups: [''], resources: ['pods'], verbs: ['get'], resourceNames: names(count) }]),
    holding((count) => [{ apiGroups: [''], resources: ['pods'], verbs: ['get'], resourceNames: names(count) }]),
  ),
  'verbs and resources of a rule that its writer holds': subject(
    201,
    'POST',
    (count) =>
      roleOf([{ apiGroups: names(count), resources: names(count), verbs: names(count), resourceNames: names(count) }]),
    holding(() => [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]),
  ),
  'verbs and resources of a rule that its writer does not hold': subject(
    [403, 413],
    'POST',
    (count) => roleOf([{ apiGroups: names(count), resources: names(count), verbs: names(count) }]),
    holding(() => []),
    { smallest: 2, doublings: 6 },
  ),
  'rules of a role that is bound': subject(
    201,
    'POST',
    () => ({
      path: `${RBAC}/namespaces/default/rolebindings?${DRY}`,
      body: {
        metadata: { name: 'b' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'held' },
        subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'default' }],
      },
      as: 'user',
    }),
    holding((count) => rulesOn(names(count))),
  ),
};

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

const ADMISSION: Readonly<Record<string, RequestSubject>> = {
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

const OBJECTS: Readonly<Record<string, RequestSubject>> = {
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
  'printer columns of a definition': subject(201, 'POST', (count) => ({
    path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions?${DRY}`,
    body: {
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'things', kind: 'Thing' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', properties: byNumber(count, () => ({ type: 'string' })) } },
            additionalPrinterColumns: names(count, 'k').map((name) => ({ name, type: 'string', jsonPath: `.${name}` })),
          },
        ],
      },
    },
  })),
  'versions of a definition': subject(201, 'POST', (count) => ({
    path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions?${DRY}`,
    body: {
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'things', kind: 'Thing', shortNames: names(count), categories: names(count) },
        versions: numbers(count).map((number) => ({
          name: `v${number}`,
          served: true,
          storage: number === FIRST,
          schema: { openAPIV3Schema: { type: 'object' } },
        })),
      },
    },
  })),
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

export const REQUESTS: Readonly<Record<string, RequestSubject>> = {
  ...HEADERS,
  ...REVIEWS,
  ...ESCALATION,
  ...ADMISSION,
  ...OBJECTS,
};
