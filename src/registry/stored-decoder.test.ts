import { CATALOGUE } from '../api/kinds/catalogue';
import type { KindDefinition } from '../api/kinds/kind-definition';
import { apiVersionOf, type KubeObject } from '../api/object';
import { loadBuiltinSchema } from '../api/schema/builtin-schema';
import { EntryFactory, ParsedObjects } from '../storage/cache/entry';
import { inCurrentForm } from '../storage/cache/stored-form';
import type { Revision } from '../storage/store';
import { take } from '../api/steps/both-forms.fixture';
import { storedDecoder } from './stored-decoder';
import { storageEncoder } from './stored-object';

const schema = loadBuiltinSchema();
const metadata = { name: 'x', labels: { a: 'b' }, creationTimestamp: null };

function kindOf(kind: string): KindDefinition {
  return CATALOGUE.find((one) => one.kind === kind)!;
}

describe('what is written in another version than that of memory', () => {
  it.each<[string, string, KubeObject]>([
    [
      'Ingress',
      'networking.k8s.io/v1beta1',
      {
        metadata,
        spec: {
          ingressClassName: 'c',
          defaultBackend: { service: { name: 's', port: { number: 80 } } },
          tls: [{ hosts: ['h'], secretName: 't' }],
          rules: [
            {
              host: 'h',
              http: {
                paths: [
                  { path: '/a', pathType: 'Prefix', backend: { service: { name: 's', port: { name: 'http' } } } },
                  {
                    path: '/b',
                    pathType: 'Exact',
                    backend: { resource: { apiGroup: 'g.b', kind: 'K', name: 'n' } },
                  },
                ],
              },
            },
          ],
        },
        status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
      },
    ],
    [
      'EndpointSlice',
      'discovery.k8s.io/v1beta1',
      {
        metadata,
        addressType: 'IPv4',
        endpoints: [
          {
            addresses: ['192.0.2.1'],
            conditions: { ready: true, serving: true, terminating: false },
            hostname: 'h',
            deprecatedTopology: { rack: 'r' },
            nodeName: 'n',
            zone: 'z',
            hints: { forZones: [{ name: 'z' }] },
          },
        ],
        ports: [{ name: 'http', protocol: 'TCP', port: 80, appProtocol: 'http' }],
      },
    ],
    [
      'HorizontalPodAutoscaler',
      'autoscaling/v1',
      {
        metadata: { ...metadata, annotations: { own: 'kept' } },
        spec: {
          scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
          minReplicas: 1,
          maxReplicas: 3,
          metrics: [
            {
              type: 'ContainerResource',
              containerResource: {
                name: 'cpu',
                container: 'c',
                target: { type: 'Utilization', averageUtilization: 30 },
              },
            },
            { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } },
          ],
          behavior: {
            scaleUp: {
              stabilizationWindowSeconds: 0,
              selectPolicy: 'Max',
              policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }],
            },
          },
        },
        status: {
          currentReplicas: 1,
          desiredReplicas: 1,
          currentMetrics: [
            { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 7, averageValue: '70m' } } },
          ],
          conditions: [{ type: 'AbleToScale', status: 'True', lastTransitionTime: null }],
        },
      },
    ],
    [
      'CustomResourceDefinition',
      'apiextensions.k8s.io/v1beta1',
      {
        metadata,
        spec: {
          group: 'g.b',
          names: { plural: 'ks', singular: 'k', kind: 'K', listKind: 'KList' },
          scope: 'Namespaced',
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
              additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.a' }],
            },
            {
              name: 'v2',
              served: true,
              storage: false,
              schema: {
                openAPIV3Schema: {
                  type: 'object',
                  properties: { a: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 1' }] } },
                },
              },
              subresources: { status: {}, scale: { specReplicasPath: '.spec.r', statusReplicasPath: '.status.r' } },
            },
          ],
          conversion: {
            strategy: 'Webhook',
            webhook: { clientConfig: { url: 'https://hook.example' }, conversionReviewVersions: ['v1'] },
          },
        },
        status: { conditions: null, acceptedNames: { plural: 'ks', kind: 'K' }, storedVersions: ['v1'] },
      },
    ],
  ])('%s goes out as %s and comes back as it was', (kind, writtenVersion, object) => {
    const definition = kindOf(kind);
    const { group, version } = definition.storage;
    const memory = { ...object, kind, apiVersion: apiVersionOf(group, version) };
    const { value: bytes } = storageEncoder(definition)(memory);
    expect(JSON.parse(bytes.toString())).toMatchObject({ kind, apiVersion: writtenVersion });
    const { decode } = storedDecoder(definition, schema);
    expect(decode(bytes)).toEqual(memory);
    // What was stored before that version was chosen.
    expect(decode(inCurrentForm(JSON.stringify(memory)))).toEqual(memory);
  });
});

it('a value of the current form needs no decoding, not even the first one of its kind', () => {
  const decoder = storedDecoder(kindOf('ConfigMap'), schema);
  let decoded = 0;
  const decode = (value: Buffer): KubeObject => {
    decoded += 1;
    return decoder.decode(value);
  };
  const parsed = new ParsedObjects({ objects: 1, jsonBytes: 1 }, false);
  const factory = new EntryFactory('/registry/configmaps/', { ...decoder, decode }, parsed);
  const value = inCurrentForm('{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"b":"c"}}');
  const entry = factory.fromStored({ key: '/registry/configmaps/d/a', value, revision: 7 as Revision });
  expect(decoded).toBe(0);
  expect(entry.object).toMatchObject({ kind: 'ConfigMap', metadata: { resourceVersion: '7' }, data: { b: 'c' } });
});

it('a large value of another version is decoded a part at a time, when it is read, to what it is as a small one', () => {
  const ingress = kindOf('Ingress');
  const encode = storageEncoder(ingress);
  const { group, version } = ingress.storage;
  const rules = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      host: `h${index}.example.com`,
      http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } }] },
    }));
  const entryOf = (count: number) => {
    const apiVersion = apiVersionOf(group, version);
    const memory = {
      kind: 'Ingress',
      apiVersion,
      metadata: { name: 'a', labels: { b: 'c' } },
      spec: { rules: rules(count) },
    };
    const decoder = storedDecoder(ingress, schema);
    const decode = jest.fn(decoder.decode);
    const parsed = new ParsedObjects({ objects: 1, jsonBytes: 10_000_000 }, false);
    const factory = new EntryFactory('/registry/ingress/', { ...decoder, decode }, parsed);
    const value = { key: '/registry/ingress/d/a', value: encode(memory).value, revision: 7 as Revision };
    return { memory, value, factory, entry: factory.fromStored(value), decode };
  };
  const { memory, value, factory, entry, decode } = entryOf(2_000);
  expect(value.value.includes(`"${memory.apiVersion}"`)).toBe(false);
  expect(entry).toMatchObject({ labels: { b: 'c' }, apiVersion: memory.apiVersion });
  const preparing = entry.prepare();
  expect(preparing && take(preparing).pauses).toBeGreaterThan(10);
  expect(decode).not.toHaveBeenCalled();
  const shown = { ...memory, metadata: { resourceVersion: '7', ...memory.metadata } };
  expect(entry.object).toEqual(shown);
  expect(JSON.parse(`{${entry.body.toString()}`)).toEqual({ metadata: shown.metadata, spec: memory.spec });
  expect(factory.toStored(entry).value.equals(value.value)).toBe(true);
  expect(factory.deleted(entry, 9 as Revision).object).toMatchObject({
    metadata: { resourceVersion: '9' },
    spec: memory.spec,
  });
  const small = entryOf(2);
  expect(small.decode).toHaveBeenCalledTimes(1);
  expect(small.entry.object).toMatchObject({ spec: small.memory.spec });
});
