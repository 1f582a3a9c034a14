/**
 * What is asked of a server, in order, in a namespace of its own (`${ns}`). What kube-apiserver answers stands in
 * `exchanges/`, recorded by `record.ts`. Left out is what is known to differ (docs/compatibility.md): texts of Go's libraries, and errors of
 * the server for mistakes of the client.
 */
export interface Step {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** Absent: `application/json`. */
  readonly contentType?: string;
  readonly accept?: string;
}

export type Scenarios = Readonly<Record<string, readonly Step[]>>;

const CORE = '/api/v1/namespaces/${ns}';
const APPS = '/apis/apps/v1/namespaces/${ns}';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const METADATA = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
const [MERGE, STRATEGIC, JSON_PATCH, APPLY] = [
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/json-patch+json',
  'application/apply-patch+yaml',
];

const get = (path: string, accept?: string): Step => ({
  method: 'GET',
  path,
  ...(accept === undefined ? {} : { accept }),
});
const post = (path: string, body: unknown): Step => ({ method: 'POST', path, body });
const put = (path: string, body: unknown): Step => ({ method: 'PUT', path, body });
const remove = (path: string, body?: unknown): Step => ({
  method: 'DELETE',
  path,
  ...(body === undefined ? {} : { body }),
});
const patch = (path: string, contentType: string | undefined, body: unknown): Step => ({
  method: 'PATCH',
  path,
  body,
  ...(contentType === undefined ? {} : { contentType }),
});

const configMap = (name: string, more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { key: 'value' },
  ...more,
});

const container = (name: string, more: object = {}): object => ({ name, image: `${name}:1`, ...more });

const deployment = (name: string, containers: readonly object[], more: object = {}): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers } },
    ...more,
  },
});

const role = (name: string, rules: readonly object[]): object => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  metadata: { name },
  rules,
});

export const SCENARIOS: Scenarios = {
  'a-life': [
    post(`${CORE}/configmaps`, configMap('one')),
    post(`${CORE}/configmaps`, configMap('one')),
    get(`${CORE}/configmaps/one`),
    get(`${CORE}/configmaps/none`),
    put(`${CORE}/configmaps/one`, configMap('one', { data: { key: 'other' } })),
    put(`${CORE}/configmaps/one`, configMap('two')),
    put(`${CORE}/configmaps/none`, configMap('none')),
    put(`${CORE}/configmaps/one`, configMap('one', { metadata: { name: 'one', resourceVersion: '1' } })),
    put(`${CORE}/configmaps/one`, configMap('one', { metadata: { name: 'one', uid: 'another' } })),
    put(`${CORE}/configmaps/one?dryRun=All`, configMap('one', { data: { dry: 'run' } })),
    get(`${CORE}/configmaps`),
    get(`${CORE}/configmaps?labelSelector=app%3Dnone`),
    remove(`${CORE}/configmaps/one`),
    remove(`${CORE}/configmaps/one`),
    get(`${CORE}/configmaps`),
  ],
  names: [
    post(`${CORE}/configmaps`, configMap('Upper')),
    post(`${CORE}/configmaps`, configMap('')),
    post(`${CORE}/configmaps`, { metadata: { generateName: 'g_' } }),
    post(`${CORE}/configmaps`, configMap('a'.repeat(254))),
    post(`${CORE}/services`, { metadata: { name: '1st' }, spec: { ports: [{ port: 80 }] } }),
    post(`${CORE}/configmaps`, configMap('elsewhere', { metadata: { name: 'elsewhere', namespace: 'kube-system' } })),
    post('/api/v1/namespaces/there-is-none/configmaps', configMap('x')),
    post(`${CORE}/configmaps`, configMap('labels', { metadata: { name: 'labels', labels: { 'not valid': 'x' } } })),
    post(`${CORE}/configmaps`, configMap('finalizers', { metadata: { name: 'finalizers', finalizers: ['plain'] } })),
    post(`${CORE}/configmaps`, { metadata: { name: 'x' }, data: { '../key': 'v' } }),
  ],
  bodies: [
    post(`${CORE}/configmaps`, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } }),
    { method: 'POST', path: `${CORE}/configmaps`, body: configMap('x'), contentType: 'text/plain' },
    get(`${CORE}/configmaps`, 'text/html'),
    post(`${CORE}/configmaps?dryRun=Some`, configMap('x')),
    post(`${CORE}/configmaps?fieldManager=${'m'.repeat(129)}`, configMap('x')),
  ],
  defaults: [
    post(`${CORE}/pods`, { metadata: { name: 'pod' }, spec: { containers: [container('c')] } }),
    post(`${CORE}/services`, { metadata: { name: 'headless' }, spec: { clusterIP: 'None', ports: [{ port: 80 }] } }),
    post(`${APPS}/deployments`, deployment('d', [container('c', { ports: [{ containerPort: 80 }] })])),
    post(`${APPS}/daemonsets`, { ...deployment('ds', [container('c')]), kind: 'DaemonSet' }),
    post(`${APPS}/statefulsets`, {
      ...deployment('ss', [container('c')], {
        serviceName: 's',
        volumeClaimTemplates: [
          {
            metadata: { name: 'v' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
      }),
      kind: 'StatefulSet',
    }),
    post('/apis/batch/v1/namespaces/${ns}/jobs', {
      metadata: { name: 'job' },
      spec: { template: { spec: { restartPolicy: 'Never', containers: [container('c')] } } },
    }),
    post('/apis/autoscaling/v1/namespaces/${ns}/horizontalpodautoscalers', {
      metadata: { name: 'hpa' },
      spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' } },
    }),
    post('/apis/networking.k8s.io/v1/namespaces/${ns}/networkpolicies', {
      metadata: { name: 'policy' },
      spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] },
    }),
    post(`${CORE}/persistentvolumeclaims`, {
      metadata: { name: 'claim' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    }),
    post(`${CORE}/secrets`, { metadata: { name: 'secret' }, stringData: { a: 'b' } }),
  ],
  'what-is-invalid': [
    post(`${APPS}/deployments`, deployment('bad', [])),
    post(`${APPS}/deployments`, deployment('bad', [container('c')], { selector: { matchLabels: { app: 'other' } } })),
    post(`${APPS}/deployments`, deployment('bad', [container('c')], { replicas: -1, strategy: { type: 'Sometimes' } })),
    post(`${CORE}/pods`, { metadata: { name: 'bad' }, spec: { containers: [container('c'), container('c')] } }),
    post(`${CORE}/pods`, {
      metadata: { name: 'bad' },
      spec: { containers: [container('C_')], restartPolicy: 'Maybe' },
    }),
    post(`${CORE}/pods`, {
      metadata: { name: 'bad' },
      spec: { containers: [container('c', { volumeMounts: [{ name: 'none', mountPath: '/x' }] })] },
    }),
    post(`${CORE}/services`, { metadata: { name: 'bad' }, spec: { ports: [{ port: 0 }, { port: 70_000 }] } }),
    post(`${CORE}/secrets`, { metadata: { name: 'bad' }, type: 'kubernetes.io/tls', data: {} }),
    post(`${CORE}/limitranges`, {
      metadata: { name: 'bad' },
      spec: { limits: [{ type: 'Container', min: { cpu: '2' }, max: { cpu: '1' } }] },
    }),
    post(`${CORE}/resourcequotas`, { metadata: { name: 'bad' }, spec: { hard: { cpu: '-1' } } }),
    post(`${RBAC}/namespaces/\${ns}/roles`, role('bad', [{ apiGroups: [''], resources: ['pods'] }])),
    post(`${RBAC}/namespaces/\${ns}/rolebindings`, { metadata: { name: 'bad' }, roleRef: { kind: 'Role', name: 'x' } }),
    post('/apis/networking.k8s.io/v1/namespaces/${ns}/ingresses', { metadata: { name: 'bad' }, spec: {} }),
    post('/apis/batch/v1/namespaces/${ns}/jobs', {
      metadata: { name: 'bad' },
      spec: { template: { spec: { restartPolicy: 'Always', containers: [container('c')] } } },
    }),
  ],
  patches: [
    post(
      `${APPS}/deployments`,
      deployment('d', [container('a', { env: [{ name: 'X', value: '1' }] }), container('b')]),
    ),
    patch(`${APPS}/deployments/d`, STRATEGIC, {
      spec: { template: { spec: { containers: [{ name: 'a', env: [{ name: 'Y', value: '2' }] }] } } },
    }),
    patch(`${APPS}/deployments/d`, STRATEGIC, {
      spec: { template: { spec: { containers: [{ name: 'b', $patch: 'delete' }] } } },
    }),
    patch(`${APPS}/deployments/d`, MERGE, { metadata: { labels: { a: 'b' } }, spec: { replicas: 2 } }),
    patch(`${APPS}/deployments/d`, MERGE, { metadata: { labels: null } }),
    patch(`${APPS}/deployments/d`, JSON_PATCH, [{ op: 'replace', path: '/spec/replicas', value: 3 }]),
    patch(`${APPS}/deployments/d`, JSON_PATCH, [{ op: 'test', path: '/spec/replicas', value: 1 }]),
    patch(`${APPS}/deployments/d`, JSON_PATCH, [{ op: 'remove', path: '/spec/nothing' }]),
    patch(`${APPS}/deployments/d`, MERGE, { spec: { selector: { matchLabels: { app: 'other' } } } }),
    patch(`${APPS}/deployments/d`, MERGE, { metadata: { name: 'other' } }),
    patch(`${APPS}/deployments/none`, MERGE, { metadata: { labels: { a: 'b' } } }),
    patch(`${APPS}/deployments/d`, 'application/json', {}),
  ],
  apply: [
    patch(`${CORE}/configmaps/a?fieldManager=one`, APPLY, configMap('a')),
    patch(`${CORE}/configmaps/a?fieldManager=two`, APPLY, configMap('a', { data: { key: 'mine', own: 'x' } })),
    patch(
      `${CORE}/configmaps/a?fieldManager=two&force=true`,
      APPLY,
      configMap('a', { data: { key: 'mine', own: 'x' } }),
    ),
    patch(`${CORE}/configmaps/a?fieldManager=two`, APPLY, configMap('a', { data: { key: 'mine' } })),
    patch(`${CORE}/configmaps/a`, APPLY, configMap('a')),
    patch(`${CORE}/configmaps/a?fieldManager=one`, APPLY, { metadata: { name: 'a' } }),
    patch(`${CORE}/configmaps/a?fieldManager=one`, APPLY, configMap('b')),
    patch(`${CORE}/configmaps/a?force=true`, MERGE, { data: {} }),
    patch(`${APPS}/deployments/d?fieldManager=one`, APPLY, deployment('d', [container('a'), container('b')])),
    patch(`${APPS}/deployments/d?fieldManager=two`, APPLY, deployment('d', [container('b', { tty: true })])),
    patch(`${APPS}/deployments/d?fieldManager=one`, APPLY, deployment('d', [container('a')])),
  ],
  subresources: [
    post(`${APPS}/deployments`, deployment('d', [container('c')])),
    get(`${APPS}/deployments/d/scale`),
    put(`${APPS}/deployments/d/scale`, { metadata: { name: 'd' }, spec: { replicas: 4 } }),
    patch(`${APPS}/deployments/d/scale`, MERGE, { spec: { replicas: -4 } }),
    put(`${APPS}/deployments/none/scale`, { metadata: { name: 'none' }, spec: { replicas: 4 } }),
    patch(`${APPS}/deployments/d/status`, MERGE, { status: { replicas: 2, observedGeneration: 1 } }),
    get(`${APPS}/deployments/d/nothing`),
    post(`${CORE}/pods`, { metadata: { name: 'p' }, spec: { containers: [container('c')] } }),
    post(`${CORE}/pods/p/binding`, { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n1' } }),
    post(`${CORE}/pods/p/binding`, { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n2' } }),
    post(`${CORE}/pods/p/eviction`, { metadata: { name: 'other' } }),
  ],
  deletion: [
    post(`${CORE}/configmaps`, configMap('held', { metadata: { name: 'held', finalizers: ['example.com/hold'] } })),
    remove(`${CORE}/configmaps/held`, { preconditions: { uid: 'another' } }),
    remove(`${CORE}/configmaps/held`, { propagationPolicy: 'Sideways' }),
    remove(`${CORE}/configmaps/held`),
    put(
      `${CORE}/configmaps/held`,
      configMap('held', { metadata: { name: 'held', finalizers: ['example.com/more', 'example.com/hold'] } }),
    ),
    patch(`${CORE}/configmaps/held`, MERGE, { metadata: { finalizers: null } }),
    get(`${CORE}/configmaps/held`),
    post(`${CORE}/configmaps`, configMap('x', { metadata: { name: 'x', labels: { group: 'one' } } })),
    post(`${CORE}/configmaps`, configMap('y', { metadata: { name: 'y', labels: { group: 'two' } } })),
    remove(`${CORE}/configmaps?labelSelector=group%3Done`),
    get(`${CORE}/configmaps?labelSelector=group`),
    remove('/api/v1/nodes/none'),
  ],
  lists: [
    ...['a', 'b', 'c'].map((name) =>
      post(`${CORE}/configmaps`, configMap(name, { metadata: { name, labels: { app: name } } })),
    ),
    get(`${CORE}/configmaps?limit=2`),
    get(`${CORE}/configmaps?limit=x`),
    get(`${CORE}/configmaps?continue=nonsense`),
    get(`${CORE}/configmaps?resourceVersionMatch=Exact`),
    get(`${CORE}/configmaps?labelSelector=app%20in%20(a,b)`),
    get(`${CORE}/configmaps?labelSelector=app%20in`),
    get(`${CORE}/configmaps?fieldSelector=metadata.name%3Dc`),
    get(`${CORE}/configmaps?fieldSelector=data.key%3Dvalue`),
    get(`${CORE}/configmaps`, TABLE),
    get(`${CORE}/configmaps/a`, TABLE),
    get(`${CORE}/configmaps/a`, METADATA),
  ],
  rights: [
    post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      spec: { resourceAttributes: { verb: 'get', resource: 'pods', namespace: '${ns}' } },
    }),
    post('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      spec: { user: 'stranger', resourceAttributes: { verb: 'get', resource: 'pods', namespace: '${ns}' } },
    }),
    post('/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec: {} }),
    post(`${RBAC}/namespaces/\${ns}/roles`, role('r', [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }])),
    post(`${RBAC}/namespaces/\${ns}/rolebindings`, {
      metadata: { name: 'b' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
      subjects: [{ kind: 'User', name: 'stranger' }],
    }),
    patch(`${RBAC}/namespaces/\${ns}/rolebindings/b`, MERGE, { roleRef: { name: 'other' } }),
  ],
  outside: [
    get('/apis/none.example.com'),
    get('/apis/apps/v9'),
    get('/api/v1/namespaces/${ns}/nothings'),
    { method: 'PUT', path: `${CORE}/configmaps`, body: configMap('x') },
    { method: 'POST', path: `${CORE}/configmaps/x`, body: configMap('x') },
    { method: 'DELETE', path: `${CORE}/services/x/proxy-none` },
  ],
};
