import { decodeObject } from '../api/codec/json-decode';
import { encodeMessage } from '../api/codec/protobuf-encode';
import { encodeEnvelope } from '../api/codec/protobuf-envelope';
import { CATALOGUE } from '../api/kinds/catalogue';
import type { KindDefinition } from '../api/kinds/kind-definition';
import { created, decoded, sentAs } from '../api/kinds/write.fixture';
import { apiVersionOf, type JsonObject, type JsonValue, type KubeObject } from '../api/object';
import { loadBuiltinSchema } from '../api/schema/builtin-schema';
import type { StructType, TypeRef } from '../api/schema/model';
import { isInCurrentForm } from '../storage/cache/stored-form';
import { storedDecoder } from './stored-decoder';
import { storageEncoder } from './stored-object';

const schema = loadBuiltinSchema();
const metadata = { name: 'x', creationTimestamp: null };

/** `apps/v1 Deployment` of every version in which an object may stand in the store. */
const STORED = CATALOGUE.filter(({ stored }) => stored).flatMap((definition) =>
  definition.versions.map(({ group, version }) => `${apiVersionOf(group, version)} ${definition.kind}`),
);

/** An object in which every part is there, once, and no part says anything: wherever a default may stand, one is missing. */
function skeletonOf(type: StructType, within: readonly StructType[] = []): JsonObject {
  const parts: Record<string, JsonValue> = {};
  for (const [name, field] of type.fields) {
    const part = partOf(field.type, [...within, type]);
    if (part !== undefined) parts[name] = part;
  }
  return parts;
}

function partOf(type: TypeRef, within: readonly StructType[]): JsonValue | undefined {
  if (type.kind === 'struct') return within.includes(type) ? undefined : skeletonOf(type, within);
  if (type.kind !== 'list') return undefined;
  const item = partOf(type.items, within);
  return item === undefined ? undefined : [item];
}

function structOf(groupVersionKind: string): StructType {
  const { definition, requested } = sentAs(groupVersionKind);
  return schema.kind(requested.group, requested.version, definition.kind)!;
}

function decoderOf(definition: KindDefinition): (value: Buffer) => KubeObject {
  return storedDecoder(definition, schema).decode;
}

/** As kube-apiserver stores it, in either encoding. */
function storedByOthers(groupVersionKind: string, body: object): readonly Buffer[] {
  const [apiVersion = '', kind = ''] = groupVersionKind.split(' ');
  const type = structOf(groupVersionKind);
  const { object } = decodeObject(type, body, { applyDefaults: false, collectUnknown: false });
  return [
    Buffer.from(`${JSON.stringify({ kind, apiVersion, ...body })}\n`),
    Buffer.from(encodeEnvelope({ apiVersion, kind, raw: encodeMessage(type, object) })),
  ];
}

/** What a request with this body is about, in the storage version. */
function sent(groupVersionKind: string, body: object): KubeObject {
  const to = sentAs(groupVersionKind);
  const { kind, storage, completeStored } = to.definition;
  const object = { ...decoded(to, body), kind, apiVersion: apiVersionOf(storage.group, storage.version) };
  return completeStored?.(object) ?? object;
}

describe('what another writer has stored', () => {
  it.each(STORED)('gets the defaults that it would get if it were sent: %s', (groupVersionKind) => {
    const { definition } = sentAs(groupVersionKind);
    for (const body of [{ metadata }, { ...skeletonOf(structOf(groupVersionKind)), metadata }]) {
      for (const value of storedByOthers(groupVersionKind, body)) {
        expect(decoderOf(definition)(value)).toEqual(sent(groupVersionKind, body));
      }
    }
  });

  it.each<[string, object, object]>([
    [
      'apps/v1 StatefulSet',
      { spec: { volumeClaimTemplates: [{ metadata: { name: 'data' } }] } },
      {
        spec: {
          volumeClaimTemplates: [
            {
              kind: 'PersistentVolumeClaim',
              apiVersion: 'v1',
              spec: { volumeMode: 'Filesystem' },
              status: { phase: 'Pending' },
            },
          ],
          replicas: 1,
          updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
        },
      },
    ],
    ['v1 PersistentVolumeClaim', {}, { spec: { volumeMode: 'Filesystem' }, status: { phase: 'Pending' } }],
    [
      'batch/v1 Job',
      { spec: { template: { metadata: { labels: { 'job-name': 'x' } } } } },
      { metadata: { labels: { 'job-name': 'x' } }, spec: { completions: 1, parallelism: 1, backoffLimit: 6 } },
    ],
    ['v1 Service', { spec: { clusterIP: '10.0.0.9' } }, { spec: { clusterIPs: ['10.0.0.9'], type: 'ClusterIP' } }],
    [
      'v1 Pod',
      { spec: { containers: [{ name: 'c', image: 'i:1' }] } },
      {
        spec: {
          containers: [{ imagePullPolicy: 'IfNotPresent' }],
          dnsPolicy: 'ClusterFirst',
          enableServiceLinks: true,
        },
      },
    ],
    [
      'networking.k8s.io/v1beta1 Ingress',
      { spec: { rules: [{ http: { paths: [{ backend: { serviceName: 's', servicePort: 80 } }] } }] } },
      { spec: { rules: [{ http: { paths: [{ pathType: 'ImplementationSpecific' }] } }] } },
    ],
    [
      'autoscaling/v1 HorizontalPodAutoscaler',
      { spec: { maxReplicas: 3 } },
      { spec: { minReplicas: 1, metrics: [{ type: 'Resource', resource: { name: 'cpu' } }] } },
    ],
  ])('is complete: %s', (groupVersionKind, body, expected) => {
    const { definition } = sentAs(groupVersionKind);
    for (const value of storedByOthers(groupVersionKind, { metadata, ...body })) {
      expect(decoderOf(definition)(value)).toMatchObject(expected);
    }
  });
});

/** Those whose defaults are the same for what is sent and for what is stored; others let through what other versions demand. */
const WRITTEN = CATALOGUE.filter(({ stored }) => stored).map(({ kind, storage, written }) => {
  const { group, version } = written ?? storage;
  return `${apiVersionOf(group, version)} ${kind}`;
});

/** Without which nothing is stored: what has been checked need not be completed. */
const NEEDED: Readonly<Record<string, object>> = {
  'apiextensions.k8s.io/v1beta1 CustomResourceDefinition': { spec: { version: 'v1' } },
};

describe('what this server stores itself', () => {
  it.each(WRITTEN)('lacks no default, so that nothing is filled in when it is read: %s', (groupVersionKind) => {
    const to = sentAs(groupVersionKind);
    const decode = decoderOf(to.definition);
    for (const body of [{ metadata }, { ...skeletonOf(structOf(groupVersionKind)), metadata }]) {
      const { value } = storageEncoder(to.definition)(created(to, { ...body, ...NEEDED[groupVersionKind] }));
      expect(isInCurrentForm(value)).toBe(true);
      expect(decode(value.subarray(0, -1))).toEqual(decode(value));
    }
  });

  it('is taken as it stands', () => {
    const { definition } = sentAs('v1 Pod');
    const bare = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'x' } };
    const { value } = storageEncoder(definition)(bare);
    expect(decoderOf(definition)(value)).toEqual(bare);
    expect(decoderOf(definition)(value.subarray(0, -1))).toHaveProperty('spec.restartPolicy', 'Always');
  });
});
