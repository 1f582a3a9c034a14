import type { ObjectMeta } from '../../api/object';
import type { CacheEntry } from '../../storage/cache/cache';
import { metadataText } from '../../storage/cache/body-metadata';

/** An object reduced to its metadata (API concepts, "Metadata-only fetches"). `apiVersion` is a version of meta.k8s.io. */
export function partialObject(apiVersion: string, metadata: ObjectMeta): Readonly<Record<string, unknown>> {
  return { kind: 'PartialObjectMetadata', apiVersion, metadata };
}

/** The JSON text of that, cut out of the entry's bytes. */
export function partialObjectPieces(apiVersion: string, entry: CacheEntry): readonly Uint8Array[] {
  let head = heads.get(apiVersion);
  if (head === undefined) {
    head = Buffer.from(`{"kind":"PartialObjectMetadata","apiVersion":${JSON.stringify(apiVersion)},"metadata":`);
    heads.set(apiVersion, head);
  }
  return [head, metadataText(entry), CLOSING];
}

/** By apiVersion, of which there are two. */
const heads = new Map<string, Buffer>();
const CLOSING = Buffer.from('}');
