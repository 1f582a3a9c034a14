import { decodeMessage } from '../../../api/codec/protobuf-decode';
import { encodeMessage } from '../../../api/codec/protobuf-encode';
import { openEnvelope } from '../../../api/codec/protobuf-envelope';
import type { KubeObject } from '../../../api/object';
import { loadBuiltinSchema } from '../../../api/schema/builtin-schema';
import { localEntry } from '../../../registry/local-entry';
import type { Revision } from '../../../storage/store';
import { listPieces } from './list-parts';
import { partialJsonItems, partialListFields, partialProtobufItems } from './partial-list';
import { protobufEnvelope } from './protobuf-list';

const META = 'k8s.io.apimachinery.pkg.apis.meta.v1';
const schema = loadBuiltinSchema();
const metadata = (name: string): KubeObject['metadata'] => ({
  name,
  labels: { 'a"}': 'ü{' },
  ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'cart', uid: 'u' }],
  creationTimestamp: '2026-11-23T00:00:00Z',
});
const names = Array.from({ length: 40 }, (_, index) => `pod-${index}`);
const entries = names.map((name, index) =>
  localEntry(`/registry/pods/${name}`, index as Revision, {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: metadata(name),
    spec: { metadata: { name: 'inner' } },
  }),
);

describe.each(['meta.k8s.io/v1', 'meta.k8s.io/v1beta1'])(
  'a list of objects reduced to metadata of %s',
  (apiVersion) => {
    it('has all of the metadata and nothing else, as JSON', () => {
      const parts = { head: Buffer.from('['), items: partialJsonItems(apiVersion), entries, tail: Buffer.from(']') };
      const items = JSON.parse(Buffer.concat([...listPieces(parts)].flat()).toString()) as unknown;
      expect(items).toEqual(
        names.map((name) => ({ kind: 'PartialObjectMetadata', apiVersion, metadata: metadata(name) })),
      );
    });

    it('has the fields of its version in the order of their numbers, as Protobuf', () => {
      const listMeta = encodeMessage(schema.message(`${META}.ListMeta`)!, { resourceVersion: '7' });
      const envelope = protobufEnvelope(
        apiVersion,
        'PartialObjectMetadataList',
        listMeta,
        partialListFields(apiVersion),
      );
      const items = partialProtobufItems(schema.message(`${META}.PartialObjectMetadata`)!, apiVersion);
      const bytes = Buffer.concat([...listPieces({ ...envelope, items, entries })].flat());
      const { raw, ...type } = openEnvelope(bytes);
      expect(type).toMatchObject({ apiVersion, kind: 'PartialObjectMetadataList' });
      const list = { metadata: { resourceVersion: '7' }, items: names.map((name) => ({ metadata: metadata(name) })) };
      const [group, version] = apiVersion.split('/') as [string, string];
      const struct = schema.kind(group, version, 'PartialObjectMetadataList')!;
      expect(Buffer.from(raw).equals(encodeMessage(struct, list))).toBe(true);
      expect(decodeMessage(struct, raw)).toMatchObject({ metadata: { resourceVersion: '7' } });
    });
  },
);
