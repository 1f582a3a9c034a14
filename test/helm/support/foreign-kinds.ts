/** Definitions of the kinds of other projects that the chart makes, with the fields of theirs that it uses or might. */

type Schema = Readonly<Record<string, unknown>>;

const text: Schema = { type: 'string' };
const flag: Schema = { type: 'boolean' };
const texts: Schema = { type: 'array', items: text };
const labels: Schema = { type: 'object', additionalProperties: text };
const object = (properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  ...(required.length === 0 ? {} : { required }),
});
const list = (items: Schema): Schema => ({ type: 'array', items });
const secretKey = object({ name: text, key: text, optional: flag }, ['key']);
const issuerRef = object({ name: text, kind: text, group: text }, ['name']);

const certificate = object(
  {
    secretName: text,
    commonName: text,
    isCA: flag,
    duration: text,
    renewBefore: text,
    usages: texts,
    dnsNames: texts,
    ipAddresses: texts,
    subject: object({ organizations: texts, countries: texts }),
    privateKey: object({ algorithm: { enum: ['RSA', 'ECDSA', 'Ed25519'], ...text }, size: { type: 'integer' }, rotationPolicy: { enum: ['Never', 'Always'], ...text }, encoding: text }),
    issuerRef,
  },
  ['secretName', 'issuerRef'],
);

const endpoint = object({
  port: text,
  scheme: text,
  path: text,
  interval: text,
  scrapeTimeout: text,
  tlsConfig: object({ ca: object({ secret: secretKey, configMap: secretKey }), serverName: text, insecureSkipVerify: flag }),
  authorization: object({ type: text, credentials: secretKey }),
  relabelings: list(object({ targetLabel: text, replacement: text, sourceLabels: texts, regex: text, action: text })),
  metricRelabelings: list(object({ targetLabel: text, sourceLabels: texts, regex: text, action: text })),
});

const rule = object({ alert: text, record: text, expr: { 'x-kubernetes-int-or-string': true }, for: text, labels, annotations: labels }, ['expr']);

function definition(group: string, version: string, kind: string, plural: string, spec: Schema): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, ...(group.endsWith('.k8s.io') ? { annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes-sigs/gateway-api/pull/1' } } : {}) },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase() },
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema: object({ spec }, ['spec']) } }],
    },
  };
}

export const foreignKinds: readonly object[] = [
  definition('cert-manager.io', 'v1', 'Certificate', 'certificates', certificate),
  definition('cert-manager.io', 'v1', 'Issuer', 'issuers', object({ selfSigned: object({}), ca: object({ secretName: text }, ['secretName']) })),
  definition(
    'monitoring.coreos.com',
    'v1',
    'ServiceMonitor',
    'servicemonitors',
    object({ namespaceSelector: object({ any: flag, matchNames: texts }), selector: object({ matchLabels: labels }), endpoints: list(endpoint) }, ['selector', 'endpoints']),
  ),
  definition(
    'monitoring.coreos.com',
    'v1',
    'PodMonitor',
    'podmonitors',
    object({ namespaceSelector: object({ any: flag, matchNames: texts }), selector: object({ matchLabels: labels }), podMetricsEndpoints: list(endpoint) }, ['selector', 'podMetricsEndpoints']),
  ),
  definition(
    'monitoring.coreos.com',
    'v1',
    'PrometheusRule',
    'prometheusrules',
    object({ groups: list(object({ name: text, interval: text, rules: list(rule) }, ['name'])) }),
  ),
  definition(
    'gateway.networking.k8s.io',
    'v1alpha2',
    'TLSRoute',
    'tlsroutes',
    object({
      parentRefs: list(object({ name: text, namespace: text, sectionName: text, group: text, kind: text }, ['name'])),
      hostnames: texts,
      rules: list(object({ name: text, backendRefs: list(object({ name: text, namespace: text, port: { type: 'integer' }, weight: { type: 'integer' } }, ['name'])) })),
    }),
  ),
];
