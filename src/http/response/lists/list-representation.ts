import { encodeMessage } from '../../../api/codec/protobuf-encode';
import { encodeMessageSteps } from '../../../api/codec/protobuf-encode-steps';
import { filledInParts } from '../../../api/fill-later';
import { notAcceptable } from '../../../api/errors/status-error';
import type { ListMeta } from '../../../api/object';
import type { Steps } from '../../../api/parts';
import type { Schema, StructType } from '../../../api/schema/model';
import type { CacheEntry } from '../../../storage/cache/cache';
import type { ServedResource } from '../../../resources/served-resource';
import { eachItem, type ListParts } from './list-parts';
import type { Format, Transform } from '../../request/negotiate';
import { partialObject } from '../partial-object';
import { partialJsonItems, partialListFields, partialProtobufItems } from './partial-list';
import { protobufEnvelope, protobufItem, type ListFields } from './protobuf-list';
import { TableWriter, type IncludeObject } from '../table';
import { COMPACT_JSON, PRETTY_JSON, textList, YAML, type TextLayout } from './text-list';
import { wireFormOf, type WireForm } from '../wire-form';

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

/** Who does what cannot be done at once. */
export interface ListWork {
  /** The YAML of a JSON text. */
  readonly printYaml: (json: Uint8Array) => Promise<Buffer>;
  readonly takeSteps: <Result>(steps: Steps<Result>) => Promise<Result>;
}

/** From so many bytes on, an item of which something has to be made is made a part at a time; from fewer where it has a weight. */
const LARGE_ITEM_BYTES = 64 * 1024;

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
    private readonly work: ListWork,
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
    if (!form.isReady) return this.inParts(parts, (entry) => jsonItemSteps(form, entry));
    let length =
      head.length + LIST_TAIL.length + Math.max(0, entries.length - 1) + entries.length * form.itemHead.length;
    for (const { body } of entries) length += body.length;
    return { ...parts, length };
  }

  private protobufList(entries: readonly CacheEntry[], metadata: ListMeta): ListParts {
    const form = wireFormOf(this.served);
    const envelope = this.protobufEnvelope(form.apiVersion, this.served.listKind, metadata);
    const items = form.protobufItems(encodeMessage);
    return this.inParts({ ...envelope, items, entries }, function* (entry) {
      yield* entry.prepare() ?? [];
      return protobufItem(yield* form.messageSteps(entry, encodeMessageSteps));
    });
  }

  private printedList(entries: readonly CacheEntry[], metadata: ListMeta): ListParts {
    const { served } = this;
    const form = wireFormOf(served);
    const list = { kind: served.listKind, apiVersion: form.apiVersion, metadata, items: [] };
    const item = (entry: CacheEntry): object => {
      const object = form.object(entry);
      if (served.custom) return object;
      const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
      return rest;
    };
    const parts = textList(this.layout, list, 'items', entries, item);
    if (this.layout !== YAML) return this.printedInParts(parts, item);
    if (!entries.some(isLargeYaml)) return parts;
    // A small item is printed here, a large one in a turn of its own.
    return { ...parts, later: (entry) => (isLargeYaml(entry) ? this.largeYamlItem(entry) : undefined) };
  }

  private async largeYamlItem(entry: CacheEntry): Promise<readonly Uint8Array[]> {
    const form = wireFormOf(this.served);
    return [await this.work.printYaml(Buffer.concat([LIST_OF_ONE, form.itemHead, form.body(entry), LIST_OF_ONE_END]))];
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
    const item = ({ object }: CacheEntry): object => partialObject(apiVersion, object.metadata);
    const parts = textList(this.layout, list, 'items', entries, item);
    return this.layout === COMPACT_JSON
      ? { ...parts, items: partialJsonItems(apiVersion) }
      : this.printedInParts(parts, item);
  }

  private table(entries: readonly CacheEntry[], metadata: ListMeta, { apiVersion }: Transform): ListParts {
    const { includeObject, now } = this.representation;
    const writer = new TableWriter(this.served, { apiVersion, includeObject, now });
    const sorted = writer.sorted(entries);
    const { weight } = writer;
    const row = (entry: CacheEntry): object => writer.row(entry);
    const parts = textList(this.layout, writer.table(metadata, []), 'rows', sorted, row);
    const { separator } = parts.items;
    const items =
      this.layout === COMPACT_JSON
        ? eachItem(separator, false, (entry, among) => writer.rowPieces(entry, among), weight)
        : { ...parts.items, weight };
    return this.printedInParts({ ...parts, items }, row);
  }

  /** The list whose large items are made by `steps`. */
  private inParts(parts: ListParts, steps: (entry: CacheEntry) => Steps<readonly Uint8Array[]>): ListParts {
    const largeFrom = LARGE_ITEM_BYTES / parts.items.weight;
    const isLargeItem = ({ size }: CacheEntry): boolean => size > largeFrom;
    if (!parts.entries.some(isLargeItem)) return parts;
    const form = wireFormOf(this.served);
    const make = async (entry: CacheEntry): Promise<readonly Uint8Array[]> => {
      try {
        return await this.work.takeSteps(steps(entry));
      } finally {
        // Also where the client is gone before the last step.
        form.release(entry);
      }
    };
    return { ...parts, later: (entry) => (isLargeItem(entry) ? make(entry) : undefined) };
  }

  private printedInParts(parts: ListParts, item: (entry: CacheEntry) => object): ListParts {
    const { itemSteps } = this.layout;
    if (itemSteps === undefined) return parts;
    const form = wireFormOf(this.served);
    return this.inParts(parts, function* (entry) {
      yield* entry.prepare() ?? [];
      yield* form.hold(entry) ?? [];
      yield;
      return [yield* itemSteps(yield* filledInParts(() => item(entry)))];
    });
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

function* jsonItemSteps(form: WireForm, entry: CacheEntry): Steps<readonly Uint8Array[]> {
  yield* entry.prepareBody() ?? [];
  yield* form.hold(entry) ?? [];
  return [form.itemHead, form.body(entry)];
}

/** How the API's messages name types: `*core.ConfigMap`. */
export function goType({ version: { group }, custom }: ServedResource, kind: string): string {
  if (custom) return `*unstructured.${kind.endsWith('List') ? 'UnstructuredList' : 'Unstructured'}`;
  return `*${group === '' ? 'core' : (group.split('.')[0] ?? '')}.${kind}`;
}
