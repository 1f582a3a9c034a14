import { stringifyExact } from '../../api/codec/exact-json';
import { printJson } from '../../api/codec/json-print';
import { encodeMessage } from '../../api/codec/protobuf-encode';
import { encodeMessageSteps } from '../../api/codec/protobuf-encode-steps';
import { encodeEnvelope, encodeWatchFrame } from '../../api/codec/protobuf-envelope';
import { internalError, StatusError, type Status } from '../../api/errors/status-error';
import { filledInParts } from '../../api/fill-later';
import type { KubeObject } from '../../api/object';
import type { Steps } from '../../api/parts';
import type { Schema } from '../../api/schema/model';
import { cacheLimit } from '../../memory/memory-limit';
import type { WatchItem } from '../../registry/types';
import type { CacheEntry } from '../../storage/cache/cache';
import type { ServedResource } from '../../resources/served-resource';
import { EntryCache } from './entry-cache';
import { encodeObject } from './response-writer';
import { partialObject } from './partial-object';
import { TableWriter, type IncludeObject } from './table';
import { wireFormOf } from './wire-form';

type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';
type BookmarkItem = Extract<WatchItem, { type: 'BOOKMARK' }>;

/** Turns what happens into the bytes of one stream's format. */
export interface WatchEncoder {
  readonly contentType: string;
  /** What it makes of an event is the same for every stream, now and later. */
  readonly shared: boolean;
  /** Does what takes long of a large entry's event, so that to ask for the event takes little; undefined: nothing does. */
  prepare?(type: EventType, entry: CacheEntry): Steps<void> | undefined;
  /** How many times an object is looked through for its event; present where each stream has its own made. */
  readonly weight?: number;
  /** The pieces of an event; pieces are shared by streams and must not be changed. */
  event(type: EventType, entry: CacheEntry): readonly Uint8Array[];
  bookmark(item: BookmarkItem): readonly Uint8Array[];
  /** The last event of a stream that cannot go on. */
  error(status: Status): readonly Uint8Array[];
}

/** Serialized events that are kept per resource, version and format for the watchers that are a little behind. */
const REMEMBERED_EVENTS = {
  entries: 1024,
  bytes: cacheLimit(8 * 1024 * 1024),
  sizeOf: (pieces: readonly Uint8Array[]) => pieces.reduce((sum, { length }) => sum + length, 0),
};
/** Marks the end of the initial events for clients that asked for them (API concepts, "Streaming lists"). */
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** How the event of a table ends. */
const AFTER_ROWS = ']}}\n';

const EVENT_TAIL = Buffer.from('}\n');

function* convert(served: ServedResource, entry: CacheEntry): Steps<void> {
  yield* wireFormOf(served).convertSteps(entry);
}

/** The plain stream of JSON objects: each event is its stored bytes between a head and a tail. */
class JsonEncoder implements WatchEncoder {
  readonly contentType = 'application/json';
  readonly shared = true;
  private readonly heads: Readonly<Record<EventType, Buffer>>;

  constructor(private readonly served: ServedResource) {
    const { objectHead } = wireFormOf(served);
    const head = (type: EventType): Buffer => Buffer.concat([Buffer.from(`{"type":"${type}","object":`), objectHead]);
    this.heads = { ADDED: head('ADDED'), MODIFIED: head('MODIFIED'), DELETED: head('DELETED') };
  }

  prepare(_type: EventType, entry: CacheEntry): Steps<void> | undefined {
    return this.served.version.convert === undefined ? entry.prepareBody() : convert(this.served, entry);
  }

  event(type: EventType, entry: CacheEntry): readonly Uint8Array[] {
    return [this.heads[type], wireFormOf(this.served).body(entry), EVENT_TAIL];
  }

  bookmark(item: BookmarkItem): readonly Uint8Array[] {
    return jsonEvent('BOOKMARK', bookmarkObject(this.served, item));
  }

  error(status: Status): readonly Uint8Array[] {
    return jsonEvent('ERROR', status);
  }
}

class ProtobufEncoder implements WatchEncoder {
  readonly contentType = 'application/vnd.kubernetes.protobuf;stream=watch';
  readonly shared = true;
  private readonly frames = memoPerType();

  constructor(
    private readonly served: ServedResource,
    private readonly schema: Schema,
  ) {}

  prepare(type: EventType, entry: CacheEntry): Steps<void> | undefined {
    const isKnown = this.frames[type].find(entry) !== undefined || wireFormOf(this.served).hasMessage(entry);
    return isKnown ? undefined : this.encodeSteps(entry);
  }

  private *encodeSteps(entry: CacheEntry): Steps<void> {
    yield* entry.prepare() ?? [];
    yield* wireFormOf(this.served).messageSteps(entry, encodeMessageSteps);
  }

  event(type: EventType, entry: CacheEntry): readonly Uint8Array[] {
    return this.frames[type].get(entry, () => {
      const { apiVersion, kind, ...form } = identity(this.served);
      const raw = form.form.message(entry, encodeMessage);
      return [encodeWatchFrame(type, encodeEnvelope({ apiVersion, kind, raw }))];
    });
  }

  bookmark(item: BookmarkItem): readonly Uint8Array[] {
    const object = bookmarkObject(this.served, item);
    const { apiVersion, kind } = identity(this.served);
    const raw = encodeMessage(this.served.type, object);
    return [encodeWatchFrame('BOOKMARK', encodeEnvelope({ apiVersion, kind, raw }))];
  }

  error(status: Status): readonly Uint8Array[] {
    return [encodeWatchFrame('ERROR', encodeObject(status, { format: 'protobuf', pretty: false }, false, this.schema))];
  }
}

/** Objects reduced to their metadata. */
class PartialEncoder implements WatchEncoder {
  readonly shared = true;
  private readonly frames = memoPerType();

  constructor(
    private readonly apiVersion: string,
    private readonly protobuf: boolean,
    private readonly schema: Schema,
  ) {}

  get contentType(): string {
    return this.protobuf ? 'application/vnd.kubernetes.protobuf;stream=watch' : 'application/json';
  }

  prepare(type: EventType, entry: CacheEntry): Steps<void> | undefined {
    return this.frames[type].find(entry) === undefined ? this.encodeSteps(type, entry) : undefined;
  }

  private *encodeSteps(type: EventType, entry: CacheEntry): Steps<void> {
    yield* entry.prepare() ?? [];
    if (this.protobuf) return;
    const object = partialObject(this.apiVersion, entry.object.metadata);
    const { bytes } = yield* printJson({ type, object }, '\n');
    this.frames[type].get(entry, () => [bytes]);
  }

  event(type: EventType, entry: CacheEntry): readonly Uint8Array[] {
    return this.frames[type].get(entry, () => this.encode(type, partialObject(this.apiVersion, entry.object.metadata)));
  }

  bookmark(item: BookmarkItem): readonly Uint8Array[] {
    return this.encode('BOOKMARK', partialObject(this.apiVersion, bookmarkMetadata(item)));
  }

  error(status: Status): readonly Uint8Array[] {
    return this.encode('ERROR', status);
  }

  private encode(type: string, object: object): readonly Uint8Array[] {
    if (!this.protobuf) return jsonEvent(type, object);
    const encoded = encodeObject(object as KubeObject, { format: 'protobuf', pretty: false }, false, this.schema);
    return [encodeWatchFrame(type, encoded)];
  }
}

/** Tables of one row; only the first event of a stream names the columns, and so each stream has its own. */
class TableEncoder implements WatchEncoder {
  readonly contentType = 'application/json';
  readonly shared = false;
  private first = true;
  /** Of large entries whose events come next. */
  private readonly rows = new WeakMap<CacheEntry, Uint8Array>();

  constructor(
    private readonly served: ServedResource,
    private readonly apiVersion: string,
    private readonly includeObject: IncludeObject,
    private readonly now: () => number,
  ) {}

  *prepare(_type: EventType, entry: CacheEntry): Steps<void> {
    yield* entry.prepare() ?? [];
    const { bytes } = yield* printJson(yield* filledInParts(() => this.writer().row(entry)));
    this.rows.set(entry, bytes);
  }

  event(type: EventType, entry: CacheEntry): readonly Uint8Array[] {
    const writer = this.writer();
    const revision = String(entry.revision);
    const row = this.rows.get(entry);
    this.rows.delete(entry);
    if (row === undefined) return this.tableEvent(type, writer, [writer.row(entry)], revision);
    const around = Buffer.concat(this.tableEvent(type, writer, [], revision));
    const end = around.length - AFTER_ROWS.length;
    return [around.subarray(0, end), row, around.subarray(end)];
  }

  bookmark(item: BookmarkItem): readonly Uint8Array[] {
    const object = bookmarkObject(this.served, item);
    const writer = this.writer();
    const row = writer.rowOf(object, () => object);
    return this.tableEvent('BOOKMARK', writer, [row], String(item.revision));
  }

  error(status: Status): readonly Uint8Array[] {
    return jsonEvent('ERROR', status);
  }

  private tableEvent(
    type: string,
    writer: TableWriter,
    rows: readonly unknown[],
    resourceVersion: string,
  ): readonly Uint8Array[] {
    const table = writer.table({ resourceVersion }, rows, this.first);
    this.first = false;
    return jsonEvent(type, table);
  }

  get weight(): number {
    return this.writer().weight;
  }

  private writer(): TableWriter {
    const { apiVersion, includeObject, now } = this;
    return new TableWriter(this.served, { apiVersion, includeObject, now: now() });
  }
}

export interface WatchFormat {
  readonly format: 'json' | 'protobuf';
  readonly transform?: { readonly kind: 'Table' | 'PartialObjectMetadata'; readonly apiVersion: string };
  readonly includeObject: IncludeObject;
}

const shared = new WeakMap<ServedResource, Map<string, WatchEncoder>>();

/** The encoder of a stream; streams of one format share it, and with it what was serialized once. */
export function watchEncoder(
  served: ServedResource,
  { format, transform, includeObject }: WatchFormat,
  schema: Schema,
  now: () => number,
): WatchEncoder {
  if (transform?.kind === 'Table') return new TableEncoder(served, transform.apiVersion, includeObject, now);
  let encoders = shared.get(served);
  if (encoders === undefined) shared.set(served, (encoders = new Map<string, WatchEncoder>()));
  const key = `${format} ${transform?.apiVersion ?? ''}`;
  let encoder = encoders.get(key);
  if (encoder === undefined) {
    if (transform !== undefined) encoder = new PartialEncoder(transform.apiVersion, format === 'protobuf', schema);
    else encoder = format === 'json' ? new JsonEncoder(served) : new ProtobufEncoder(served, schema);
    encoders.set(key, encoder);
  }
  return encoder;
}

/** What a failed watch tells its client in its last event. */
export function watchFailure(error: unknown): Status {
  return (error instanceof StatusError ? error : internalError('the watch has failed')).status;
}

function identity(served: ServedResource): { apiVersion: string; kind: string; form: ReturnType<typeof wireFormOf> } {
  const form = wireFormOf(served);
  return { apiVersion: form.apiVersion, kind: form.kind, form };
}

function memoPerType(): Readonly<Record<EventType, EntryCache<readonly Uint8Array[]>>> {
  return {
    ADDED: new EntryCache(REMEMBERED_EVENTS),
    MODIFIED: new EntryCache(REMEMBERED_EVENTS),
    DELETED: new EntryCache(REMEMBERED_EVENTS),
  };
}

function jsonEvent(type: string, object: object): readonly Uint8Array[] {
  return [Buffer.from(`${stringifyExact({ type, object })}\n`)];
}

/** Kind, version and revision, and nothing else. */
function bookmarkObject(served: ServedResource, item: BookmarkItem): KubeObject {
  const { apiVersion, kind } = identity(served);
  const metadata = bookmarkMetadata(item);
  if (!served.custom) return { kind, apiVersion, metadata };
  // Custom resources have no struct whose zero values would show.
  const { creationTimestamp: _zero, ...shown } = metadata;
  return { kind, apiVersion, metadata: shown };
}

function bookmarkMetadata({ revision, initialEventsEnd }: BookmarkItem): KubeObject['metadata'] {
  return {
    resourceVersion: String(revision),
    creationTimestamp: null,
    ...(initialEventsEnd ? { annotations: { [INITIAL_EVENTS_END]: 'true' } } : {}),
  };
}
