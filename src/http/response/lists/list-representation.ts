import { encodeMessage } from '../../../api/codec/protobuf-encode';
import { notAcceptable } from '../../../api/errors/status-error';
import type { MaybePromise } from '../../../api/maybe-promise';
import type { ListMeta } from '../../../api/object';
import type { Schema, StructType } from '../../../api/schema/model';
import type { CacheEntry } from '../../../storage/cache/cache';
import type { ServedResource } from '../../../resources/served-resource';
import { eachItem, type ListParts } from './list-parts';
import type { Format, Transform } from '../../request/negotiate';
import { partialObject } from '../partial-object';
import { partialJsonItems, partialListFields, partialProtobufItems } from './partial-list';
import { protobufEnvelope, type ListFields } from './protobuf-list';
import { TableWriter, type IncludeObject } from '../table';
import { COMPACT_JSON, PRETTY_JSON, textList, YAML, type TextLayout } from './text-list';
import { wireFormOf } from '../wire-form';

/** What a client wants to see of a list. */
export interface ListRepresentation {
  readonly format: Format;
  /** JSON only. */
  readonly pretty: boolean;
  readonly transform: Transform | undefined;
  /** Of tables. */
  readonly includeObject: IncludeObject;
  /** For ages in tables: milliseconds since the epoch. */
  readonly now: number;
}

const META = 'k8s.io.apimachinery.pkg.apis.meta.v1';
const LIST_TAIL = Buffer.from(']}\n');

const LIST_OF_ONE = Buffer.from('[');
const LIST_OF_ONE_END = Buffer.from(']');
/** From so many bytes of JSON on, printing takes milliseconds. */
const LARGE_YAML_BYTES = 24 * 1024;

/** Whether an object is printed as YAML in a turn of its own. */
export function isLargeYaml({ body }: CacheEntry): boolean {
  return body.length > LARGE_YAML_BYTES;
}

/** Makes the parts of lists of one resource in one representation: whichever it is, items are made as the client takes them. */
export class ListRepresenter {
  private readonly layout: TextLayout;

  constructor(
    private readonly served: ServedResource,
    private readonly representation: ListRepresentation,
    private readonly schema: Schema,
    /** The YAML of a JSON text. */
    private readonly printYaml: (json: Uint8Array) => Promise<Buffer>,
  ) {
    const { format, pretty } = representation;
    this.layout = format === 'yaml' ? YAML : pretty ? PRETTY_JSON : COMPACT_JSON;
  }

  /** Throws 406 for what a list cannot be shown as. */
  parts(entries: readonly CacheEntry[], metadata: ListMeta): ListParts {
    const { transform, format } = this.representation;
    switch (transform?.kind) {
      case 'Table':
        return this.table(entries, metadata, transform);
      case 'PartialObjectMetadataList':
        return this.partialList(entries, metadata, transform);
      case 'PartialObjectMetadata':
        throw notAcceptable(
          `you requested PartialObjectMetadata, but the requested object is a list (${goType(this.served, this.served.listKind)})`,
        );
      case undefined:
        if (format === 'protobuf') return this.protobufList(entries, metadata);
        return this.layout === COMPACT_JSON ? this.jsonList(entries, metadata) : this.printedList(entries, metadata);
    }
  }

  private jsonList(entries: readonly CacheEntry[], metadata: ListMeta): ListParts {
    const form = wireFormOf(this.served);
    const head = Buffer.from(
      `{"kind":${JSON.stringify(this.served.listKind)},"apiVersion":${JSON.stringify(form.apiVersion)},"metadata":${JSON.stringify(metadata)},"items":[`,
    );
    const parts = { head, items: form.jsonItems, entries, tail: LIST_TAIL };
    if (!form.isReady) return parts;
    let length =
      head.length + LIST_TAIL.length + Math.max(0, entries.length - 1) + entries.length * form.itemHead.length;
    for (const { body } of entries) length += body.length;
    return { ...parts, length };
  }

  private protobufList(entries: readonly CacheEntry[], metadata: ListMeta): ListParts {
    const form = wireFormOf(this.served);
    const envelope = this.protobufEnvelope(form.apiVersion, this.served.listKind, metadata);
    return { ...envelope, items: form.protobufItems(encodeMessage), entries };
  }

  private printedList(entries: readonly CacheEntry[], metadata: ListMeta): ListParts {
    const { served } = this;
    const form = wireFormOf(served);
    const list = { kind: served.listKind, apiVersion: form.apiVersion, metadata, items: [] };
    const parts = textList(this.layout, list, 'items', entries, (entry) => {
      const object = form.object(entry);
      if (served.custom) return object;
      const { kind: _kind, apiVersion: _apiVersion, ...item } = object;
      return item;
    });
    if (this.layout !== YAML || !entries.some(isLargeYaml)) return parts;
    return { ...parts, later: (entry) => this.yamlItem(parts, entry) };
  }

  /** A small item is printed here, a large one in a turn of its own. */
  private yamlItem({ items }: ListParts, entry: CacheEntry): MaybePromise<readonly Uint8Array[]> {
    if (!isLargeYaml(entry)) return items.pieces([entry], 0, 1);
    const form = wireFormOf(this.served);
    const json = Buffer.concat([LIST_OF_ONE, form.itemHead, form.body(entry), LIST_OF_ONE_END]);
    return this.printYaml(json).then((yaml) => [yaml]);
  }

  private partialList(entries: readonly CacheEntry[], metadata: ListMeta, { kind, apiVersion }: Transform): ListParts {
    // This form has never carried the count of what remains, and says null where others say [].
    const { remainingItemCount: _count, ...rest } = metadata;
    if (this.representation.format === 'protobuf') {
      const envelope = this.protobufEnvelope(apiVersion, kind, rest, partialListFields(apiVersion));
      const items = partialProtobufItems(this.message('PartialObjectMetadata'), apiVersion);
      return { ...envelope, items, entries };
    }
    const list = { kind, apiVersion, metadata: rest, items: entries.length === 0 ? null : [] };
    const parts = textList(this.layout, list, 'items', entries, ({ object }) =>
      partialObject(apiVersion, object.metadata),
    );
    return this.layout === COMPACT_JSON ? { ...parts, items: partialJsonItems(apiVersion) } : parts;
  }

  private table(entries: readonly CacheEntry[], metadata: ListMeta, { apiVersion }: Transform): ListParts {
    const { includeObject, now } = this.representation;
    const writer = new TableWriter(this.served, { apiVersion, includeObject, now });
    const sorted = writer.sorted(entries);
    const parts = textList(this.layout, writer.table(metadata, []), 'rows', sorted, (entry) => writer.row(entry));
    if (this.layout !== COMPACT_JSON) return parts;
    return {
      ...parts,
      items: eachItem(parts.items.separator, false, (entry, among) => writer.rowPieces(entry, among)),
    };
  }

  private protobufEnvelope(
    apiVersion: string,
    kind: string,
    metadata: ListMeta,
    fields?: ListFields,
  ): ReturnType<typeof protobufEnvelope> {
    return protobufEnvelope(apiVersion, kind, encodeMessage(this.message('ListMeta'), metadata), fields);
  }

  private message(name: 'ListMeta' | 'PartialObjectMetadata'): StructType {
    const type = this.schema.message(`${META}.${name}`);
    if (type === undefined) throw new Error(`the schema has no ${name}`);
    return type;
  }
}

/** How the API's messages name types: `*core.ConfigMap`. */
export function goType({ version: { group }, custom }: ServedResource, kind: string): string {
  if (custom) return `*unstructured.${kind.endsWith('List') ? 'UnstructuredList' : 'Unstructured'}`;
  return `*${group === '' ? 'core' : (group.split('.')[0] ?? '')}.${kind}`;
}
