import { stringifyExact } from '../../api/codec/exact-json';
import { printJson } from '../../api/codec/json-print';
import { filledInParts } from '../../api/fill-later';
import { apiVersionOf, type KubeObject } from '../../api/object';
import type { Steps } from '../../api/parts';
import type { StructType } from '../../api/schema/model';
import { cacheLimit } from '../../memory/memory-limit';
import type { CacheEntry } from '../../storage/cache/cache';
import { EntryCache } from './entry-cache';
import type { ServedResource } from '../../resources/served-resource';
import type { ItemForm } from './lists/item-form';
import { ENCODED_AT_ONCE, READY_AT_ONCE } from './lists/list-parts';
import { protobufItems } from './lists/protobuf-list';

/** How a kind is written in Protobuf; from `api/codec`. */
export type EncodeMessage = (type: StructType, object: KubeObject) => Uint8Array;
export type EncodeMessageSteps = (type: StructType, object: KubeObject) => Steps<Uint8Array>;

/** Converted and encoded forms that are kept per resource and version: enough for a resource that is listed often. */
const REMEMBERED = { entries: 16_384, bytes: cacheLimit(32 * 1024 * 1024) };
/** Of a longer list, what is made of its entries would only push out what is asked for more often. */
export const LONGEST_REMEMBERED_LIST = REMEMBERED.entries / 4;
/** What a parsed object takes for each byte of its JSON, roughly. */
const PARSED_FACTOR = 4;

interface Converted {
  readonly object: KubeObject;
  readonly body: Buffer;
}

/**
 * An entry in the version in which it is served, in the forms in which it is written. Where the versions have one shape
 * (nearly everywhere) the stored bytes are the answer and nothing is parsed. One per served resource; see {@link wireFormOf}.
 */
export class WireForm {
  readonly kind: string;
  readonly apiVersion: string;
  /** `{"kind":"Pod","apiVersion":"v1",`: with a body after it, an object. */
  readonly objectHead: Buffer;
  /** What an item of a list begins with: kinds of the server's own leave kind and apiVersion out. */
  readonly itemHead: Buffer;

  /** The items of JSON lists. */
  readonly jsonItems: ItemForm;

  private readonly converted = new EntryCache<Converted>({
    ...REMEMBERED,
    sizeOf: ({ body }) => body.length * PARSED_FACTOR,
  });
  /** Of large entries that are being written: one of them may be more than is remembered. */
  private readonly held = new Map<CacheEntry, Converted>();
  private messageItems: ItemForm | undefined;
  private readonly messages = new EntryCache<Uint8Array>({ ...REMEMBERED, sizeOf: ({ length }) => length });

  constructor(private readonly served: ServedResource) {
    this.kind = served.definition.kind;
    this.apiVersion = apiVersionOf(served.version.group, served.version.version);
    this.objectHead = Buffer.from(
      `{"kind":${JSON.stringify(this.kind)},"apiVersion":${JSON.stringify(this.apiVersion)},`,
    );
    this.itemHead = served.custom ? this.objectHead : Buffer.from('{');
    this.jsonItems = jsonItems(this);
  }

  /** The stored bytes are those of this version, and nothing has to be made of them (custom resources may be completed). */
  get isReady(): boolean {
    return this.served.version.convert === undefined && !this.served.custom;
  }

  /** From `"metadata":` to the closing brace. */
  body(entry: CacheEntry): Buffer {
    return this.served.version.convert === undefined ? entry.body : this.conversion(entry).body;
  }

  object(entry: CacheEntry): KubeObject {
    if (this.served.version.convert !== undefined) return this.conversion(entry).object;
    const { object } = entry;
    return object.apiVersion === this.apiVersion && object.kind === this.kind ? object : this.typed(object);
  }

  /** The items of Protobuf lists; `encode` is the same each time. */
  protobufItems(encode: EncodeMessage): ItemForm {
    return (this.messageItems ??= {
      ...protobufItems((entry, { length }) =>
        length <= LONGEST_REMEMBERED_LIST ? this.message(entry, encode) : this.oneOfMany(entry, encode),
      ),
      joinable: !this.served.custom,
    });
  }

  /** The Protobuf message without its envelope. */
  message(entry: CacheEntry, encode: EncodeMessage): Uint8Array {
    return this.messages.get(entry, () => encode(this.served.type, this.object(entry)));
  }

  hasMessage(entry: CacheEntry): boolean {
    return this.messages.find(entry) !== undefined;
  }

  /** The same for a large object, a part at a time. */
  *messageSteps(entry: CacheEntry, encode: EncodeMessageSteps): Steps<Uint8Array> {
    const known = this.messages.find(entry);
    if (known !== undefined) return known;
    const object =
      this.served.version.convert === undefined ? this.object(entry) : (yield* this.convertSteps(entry)).object;
    yield;
    const message = yield* encode(this.served.type, object);
    return this.messages.get(entry, () => message);
  }

  /** Makes a large entry's other version, a part at a time, and holds it until it is released; undefined: it is there. */
  hold(entry: CacheEntry): Steps<void> | undefined {
    if (this.served.version.convert === undefined || this.known(entry) !== undefined) return undefined;
    return this.holdSteps(entry);
  }

  release(entry: CacheEntry): void {
    this.held.delete(entry);
  }

  private *holdSteps(entry: CacheEntry): Steps<void> {
    this.held.set(entry, yield* this.convertSteps(entry));
  }

  /** The body and the object in this version. */
  *convertSteps(entry: CacheEntry): Steps<Converted> {
    const known = this.known(entry);
    if (known !== undefined) return known;
    yield* entry.prepare() ?? [];
    yield;
    const object = yield* filledInParts(() => this.convert(entry.object));
    yield;
    const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = object;
    const { bytes } = yield* printJson({ metadata, ...rest });
    const converted = { object, body: bytes.subarray(1) };
    this.converted.set(entry, converted);
    return converted;
  }

  private known(entry: CacheEntry): Converted | undefined {
    return this.held.get(entry) ?? this.converted.find(entry);
  }

  private oneOfMany(entry: CacheEntry, encode: EncodeMessage): Uint8Array {
    return this.messages.find(entry) ?? encode(this.served.type, this.convert(entry.parse()));
  }

  /** Any object of the storage version, in this version. */
  convert(stored: KubeObject): KubeObject {
    return this.typed(this.served.version.convert?.fromStorage(stored) ?? stored);
  }

  private typed(object: KubeObject): KubeObject {
    return { ...object, kind: this.kind, apiVersion: this.apiVersion };
  }

  private conversion(entry: CacheEntry): Converted {
    const held = this.held.get(entry);
    if (held !== undefined) return held;
    return this.converted.get(entry, ({ object: stored }) => {
      const object = this.convert(stored);
      const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = object;
      return { object, body: Buffer.from(stringifyExact({ metadata, ...rest }).slice(1)) };
    });
  }
}

const COMMA = Buffer.from(',');

function jsonItems(form: WireForm): ItemForm {
  const nextHead = Buffer.concat([COMMA, form.itemHead]);
  return {
    separator: COMMA,
    shared: true,
    joinable: form.isReady,
    atOnce: form.isReady ? READY_AT_ONCE : ENCODED_AT_ONCE,
    weight: 1,
    pieces: (entries, from, to) => {
      const pieces: Uint8Array[] = [];
      for (let index = from; index < to; index++) {
        pieces.push(index === from ? form.itemHead : nextHead, form.body(entries[index]!));
      }
      return pieces;
    },
  };
}

const forms = new WeakMap<ServedResource, WireForm>();

export function wireFormOf(served: ServedResource): WireForm {
  let form = forms.get(served);
  if (form === undefined) forms.set(served, (form = new WireForm(served)));
  return form;
}
