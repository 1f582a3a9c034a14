import { parseExact, stringifyExact } from '../../api/codec/exact-json';
import { JsonPieces } from '../../api/codec/json-pieces';
import { isJson, printJson } from '../../api/codec/json-print';
import { completed } from '../../api/completion';
import type { KubeObject } from '../../api/object';
import type { Steps } from '../../api/parts';
import type { Labels } from '../../api/selectors/label-selector';
import { isEncrypted, TRIED_TO_READ_ENCRYPTED } from '../encrypted-prefix';
import type { Revision, StoredValue } from '../store';
import { labelsOf, NO_LABELS } from './body-labels';
import type { CacheEntry, ResourceDecoder } from './cache';
import { LabelIndex } from './label-index';
import { reads } from './reads';
import { CURRENT_FORM, isInCurrentForm } from './stored-form';
import { skimmedObject } from './skimmed-body';
import { UnreadableValueError } from './unreadable-value';

const CLOSE_BRACE = 0x7d;
const BEFORE_REVISION = '"metadata":{"resourceVersion":"';
const METADATA = '"metadata":{';
/** Bytes of a value that is worth remembering as it was decoded: so large ones are few, even in a whole registry. */
const LARGE_VALUE = 64 * 1024;
/** Some tenths of a millisecond. */
const PIECES = { maxValues: Infinity, pieceBytes: 32 * 1024 };

/** What is kept of parsed objects, at most; whichever is reached first. */
export interface ParsedLimits {
  readonly objects: number;
  /** Of their JSON. As objects they take some five times as much, and ten times at worst. */
  readonly jsonBytes: number;
}

/**
 * Keeps the objects that were parsed last, so that what is asked for often is not parsed often, and what is not asked for
 * costs only its bytes.
 */
export class ParsedObjects {
  /** Places of entries that were dropped stay empty until they are the oldest. */
  private readonly ring: (Entry | undefined)[];
  private oldest = 0;
  /** Places in use, empty ones among them. */
  private count = 0;
  private objects = 0;
  private bytes = 0;

  constructor(
    private readonly limits: ParsedLimits,
    /** Makes parsed objects throw when they are changed; for tests. */
    readonly freeze: boolean,
  ) {
    this.ring = new Array<Entry | undefined>(limits.objects).fill(undefined);
  }

  get size(): { readonly objects: number; readonly bytes: number } {
    return { objects: this.objects, bytes: this.bytes };
  }

  /** For an entry that is not kept. Says where it stands. */
  keep(entry: Entry): number {
    const { objects, jsonBytes } = this.limits;
    this.bytes += entry.stored.length;
    while (this.count > 0 && (this.count === objects || this.bytes > jsonBytes)) this.dropOldest();
    const place = (this.oldest + this.count++) % objects;
    this.ring[place] = entry;
    this.objects++;
    return place;
  }

  /** Of an entry that is kept there. */
  drop(place: number): void {
    const entry = this.ring[place];
    if (entry === undefined) return;
    this.ring[place] = undefined;
    this.objects--;
    this.bytes -= entry.stored.length;
    entry.dropped();
  }

  private dropOldest(): void {
    this.drop(this.oldest);
    this.oldest = (this.oldest + 1) % this.limits.objects;
    this.count--;
  }
}

/** How values of the current form begin. */
const HEAD = /^\{"kind":"([^"\\]+)","apiVersion":"([^"\\]+)","metadata":\{/;
const MAX_HEAD = 512;

type StoredAs = NonNullable<ResourceDecoder['storedAs']>;

/** What all entries of one resource have in common. */
interface EntryKind {
  /** `{"kind":"Pod","apiVersion":"v1",` */
  readonly head: string;
  readonly apiVersion: string;
  /** The version of the stored bytes, if it is known: the resource's own, or one from which it has changed since. */
  readonly storedAs: ResourceDecoder['storedAs'];
  /** Length of the keys' part before namespace or name. */
  readonly keyPrefixLength: number;
  readonly parsed: ParsedObjects;
  readonly complete: ResourceDecoder['complete'];
}

/** Of the few entries that have many labels. */
const indexes = new WeakMap<Entry, LabelIndex>();

class Entry implements CacheEntry {
  private parsedObject: KubeObject | undefined;
  /** Among the parsed objects, while this one's is kept. */
  private place = 0;
  /** Null: many. */
  private knownLabels: Labels | null | undefined;
  private knownFields: Record<string, string> | undefined;
  /** The stored bytes, or what became of them when they were completed. */
  private current: Buffer | undefined;

  constructor(
    readonly key: string,
    readonly revision: Revision,
    /** The body as it is in the store. */
    readonly stored: Buffer,
    private readonly kind: EntryKind,
  ) {
    if (kind.complete === undefined) this.current = stored;
  }

  get body(): Buffer {
    return (this.current ??= this.completed());
  }

  get size(): number {
    return (this.current ?? this.stored).length;
  }

  prepare(): Steps<void> | undefined {
    const isReady = this.parsedObject !== undefined && this.current !== undefined;
    return isReady || this.stored.length <= LARGE_VALUE ? undefined : this.parts();
  }

  prepareBody(): Steps<void> | undefined {
    return this.current === undefined ? this.prepare() : undefined;
  }

  private *parts(): Steps<void> {
    const { head, complete } = this.kind;
    const pieces = new JsonPieces(Buffer.concat([Buffer.from(head), this.current ?? this.stored]), PIECES);
    let object = (yield* pieces.steps()) as KubeObject;
    if (this.current === undefined && complete !== undefined) {
      yield;
      const current = yield* completed(complete, object);
      yield;
      if (current === object) this.current = this.stored;
      else {
        const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = current;
        const { bytes, isPlain } = yield* printJson({ metadata, ...rest });
        this.current = bytes.subarray(1);
        if (!isPlain) return;
        object = current;
      }
    }
    if (this.parsedObject === undefined) this.keep(object);
  }

  private keep(object: KubeObject): KubeObject {
    const { parsed } = this.kind;
    this.parsedObject = parsed.freeze ? deepFreeze(object) : object;
    this.place = parsed.keep(this);
    return object;
  }

  get apiVersion(): string {
    return this.kind.apiVersion;
  }

  get namespace(): string {
    const slash = this.key.indexOf('/', this.kind.keyPrefixLength);
    return slash < 0 ? '' : this.key.slice(this.kind.keyPrefixLength, slash);
  }

  get name(): string {
    const slash = this.key.indexOf('/', this.kind.keyPrefixLength);
    return this.key.slice(slash < 0 ? this.kind.keyPrefixLength : slash + 1);
  }

  get object(): KubeObject {
    return this.parsedObject ?? this.keep(this.parse());
  }

  parse(): KubeObject {
    if (this.parsedObject !== undefined) return this.parsedObject;
    reads.bytes += this.body.length;
    const object = parseExact(this.kind.head + this.body.toString('utf8')) as KubeObject;
    return this.kind.parsed.freeze ? deepFreeze(object) : object;
  }

  get labels(): Labels | undefined {
    const known = this.knownLabels === undefined ? this.findLabels() : this.knownLabels;
    return known ?? undefined;
  }

  pickLabels(keys: Iterable<string>): Labels {
    return this.labels ?? indexes.get(this)?.pick(keys) ?? NO_LABELS;
  }

  private findLabels(): Labels | null {
    reads.bytes += this.stored.length;
    const found = labelsOf(this.stored);
    if (found instanceof LabelIndex) {
      indexes.set(this, found);
      return (this.knownLabels = null);
    }
    return (this.knownLabels = found);
  }

  field(label: string, read: (object: KubeObject) => string): string {
    this.knownFields ??= {};
    return (this.knownFields[label] ??= read(this.skimmed(label) ?? this.parse()));
  }

  /** Of a large object that is not parsed: what the field may be read from. */
  private skimmed(label: string): KubeObject | undefined {
    const { current, parsedObject } = this;
    if (parsedObject !== undefined || current === undefined || current.length <= LARGE_VALUE) return undefined;
    reads.bytes += current.length;
    return skimmedObject(current, label);
  }

  /** Takes over what parsing would give. */
  learn(object: KubeObject): void {
    if (this.parsedObject !== undefined) return;
    if (this.current === undefined) {
      // A large one is completed in steps, when it is first read.
      if (this.stored.length > LARGE_VALUE || this.kind.complete?.(object) !== object) return;
      this.current = this.stored;
    } else if (this.current !== this.stored) return;
    this.keep(object);
  }

  forget(): void {
    if (this.parsedObject !== undefined) this.kind.parsed.drop(this.place);
  }

  /** Its object is not kept any more. */
  dropped(): void {
    this.parsedObject = undefined;
  }

  /** The version of the stored bytes, if it is known. */
  get storedAs(): ResourceDecoder['storedAs'] {
    return this.kind.storedAs;
  }

  /** The same state as an entry of another kind: no bytes are read before it is asked for. */
  as(kind: EntryKind): Entry {
    return new Entry(this.key, this.revision, this.stored, kind);
  }

  /** The same state under the revision that deleted it. */
  deletedAt(revision: Revision): Entry {
    const rest = this.stored.indexOf('"', BEFORE_REVISION.length);
    const entry = new Entry(this.key, revision, join(`${BEFORE_REVISION}${revision}`, this.stored, rest), this.kind);
    if (this.current === this.stored) entry.current = entry.stored;
    // Many would keep this one's bytes.
    entry.knownLabels = this.knownLabels ?? undefined;
    entry.knownFields = this.knownFields;
    return entry;
  }

  private completed(): Buffer {
    const { head, complete } = this.kind;
    const object = parseExact(head + this.stored.toString('utf8')) as KubeObject;
    const completed = complete?.(object) ?? object;
    if (completed === object) return this.stored;
    const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = completed;
    return Buffer.from(stringifyExact({ metadata, ...rest }).slice(1));
  }
}

/** Makes one resource's entries. */
export class EntryFactory {
  private head: EntryKind | undefined;
  /** For decoders that leave objects in the version that they are stored in. */
  private readonly otherVersions = new Map<string, EntryKind>();
  /** For large values of other versions, which are completed when they are read. */
  private readonly laterVersions = new Map<string, EntryKind>();
  /** How values of the current form begin that are of the storage version; unknown until the first value was decoded. */
  private ownValue: Buffer | undefined;

  constructor(
    private readonly keyPrefix: string,
    readonly decoder: ResourceDecoder,
    private readonly parsed: ParsedObjects,
  ) {
    if (decoder.storedAs !== undefined) this.learnHead(decoder.storedAs.kind, decoder.storedAs.apiVersion);
  }

  /** Throws when the decoder does. The value's bytes are copied, never kept. */
  /** Throws an {@link UnreadableValueError}, or what the decoder throws. */
  fromStored({ key, value, revision, problem }: StoredValue): CacheEntry {
    if (problem !== undefined) throw new UnreadableValueError({ key, problem });
    const own = this.ownValue;
    if (
      own !== undefined &&
      this.head !== undefined &&
      value.length > own.length + CURRENT_FORM.length &&
      isInCurrentForm(value) &&
      value.compare(own, 0, own.length, 0, own.length) === 0
    ) {
      const separator = value[own.length] === CLOSE_BRACE ? '"' : '",';
      const end = value.length - CURRENT_FORM.length;
      const body = join(`${BEFORE_REVISION}${revision}${separator}`, value, own.length, end);
      return new Entry(key, revision, body, this.head);
    }
    const other = value.length > LARGE_VALUE ? this.kindOfOther(value) : undefined;
    if (other !== undefined) {
      const end = value.length - CURRENT_FORM.length;
      const separator = value[other.start] === CLOSE_BRACE ? '"' : '",';
      const body = join(`${BEFORE_REVISION}${revision}${separator}`, value, other.start, end);
      return new Entry(key, revision, body, other.kind);
    }
    const { kind = '', apiVersion = '', metadata, ...rest } = this.decoded(key, value);
    const head = this.kindOf(kind, apiVersion);
    const body = { metadata: { resourceVersion: String(revision), ...withoutVersion(metadata) }, ...rest };
    const entry = new Entry(key, revision, Buffer.from(stringifyExact(body).slice(1)), head);
    // To parse a large one again would take as long as all of this.
    if (value.length > LARGE_VALUE && isJson(body)) entry.learn({ kind, apiVersion, ...body });
    return entry;
  }

  /** Of a value of the current form in another version, which is completed later; `start`: of what its metadata has. */
  private kindOfOther(value: Buffer): { readonly kind: EntryKind; readonly start: number } | undefined {
    const { head } = this;
    if (head?.storedAs === undefined || this.decoder.completeFrom === undefined || !isInCurrentForm(value))
      return undefined;
    const said = HEAD.exec(value.toString('latin1', 0, MAX_HEAD));
    const [text = '', kind = '', apiVersion = ''] = said ?? [];
    if (kind !== head.storedAs.kind || apiVersion === head.apiVersion) return undefined;
    let other = this.laterVersions.get(apiVersion);
    if (other === undefined) {
      const complete = this.decoder.completeFrom(apiVersion);
      if (complete === undefined) return undefined;
      other = { ...head, storedAs: { kind, apiVersion }, complete };
      this.laterVersions.set(apiVersion, other);
    }
    return { kind: other, start: text.length };
  }

  private decoded(key: string, value: Buffer): KubeObject {
    try {
      return this.decoder.decode(value);
    } catch (error) {
      if (isEncrypted(value)) throw new UnreadableValueError({ key, problem: TRIED_TO_READ_ENCRYPTED });
      throw error;
    }
  }

  /** How entries of the factory before become this one's without being decoded; undefined: they have to be. */
  adopterOf(before: EntryFactory): ((entry: CacheEntry) => CacheEntry) | undefined {
    const { head } = this;
    const { adopt } = this.decoder;
    if (adopt === undefined || head === undefined || before.decoder.storedAs === undefined) return undefined;
    // By the version of their bytes: some may have been taken over before.
    const kinds = new Map<string, EntryKind>();
    const kindOf = (storedAs: StoredAs): EntryKind => {
      let kind = kinds.get(storedAs.apiVersion);
      if (kind === undefined) kinds.set(storedAs.apiVersion, (kind = { ...head, storedAs, complete: adopt(storedAs) }));
      return kind;
    };
    const { storedAs } = before.decoder;
    return (entry) => (entry as Entry).as(kindOf((entry as Entry).storedAs ?? storedAs));
  }

  /** Tells an entry of this factory what parsing it would give. */
  learn(entry: CacheEntry, object: KubeObject): void {
    (entry as Entry).learn(object);
  }

  /** The last state of an entry of this factory, as its deletion reports it. */
  deleted(entry: CacheEntry, revision: Revision): CacheEntry {
    return (entry as Entry).deletedAt(revision);
  }

  /** The bytes that would be stored for an entry of this factory. */
  toStored(entry: CacheEntry): StoredValue {
    const { key, revision } = entry;
    const body = (entry as Entry).stored;
    const end = body.indexOf('"', BEFORE_REVISION.length) + 1;
    const rest = body[end] === CLOSE_BRACE ? end : end + 1;
    const { storedAs } = entry as Entry;
    const head = storedAs === undefined ? (this.head?.head ?? '{') : headOf(storedAs);
    return { key, revision, value: join(head + METADATA, body, rest, body.length, CURRENT_FORM) };
  }

  private kindOf(kind: string, apiVersion: string): EntryKind {
    const { head } = this;
    if (head === undefined) return this.learnHead(kind, apiVersion);
    if (head.apiVersion === apiVersion || this.decoder.keepsVersion !== true) return head;
    let other = this.otherVersions.get(apiVersion);
    if (other === undefined) {
      const storedAs = { kind, apiVersion };
      // What the decoder gave is complete.
      other = { ...head, head: headOf(storedAs), apiVersion, storedAs, complete: undefined };
      this.otherVersions.set(apiVersion, other);
    }
    return other;
  }

  private learnHead(kind: string, apiVersion: string): EntryKind {
    const head = headOf({ kind, apiVersion });
    const { complete, storedAs } = this.decoder;
    this.head = { head, apiVersion, storedAs, keyPrefixLength: this.keyPrefix.length, parsed: this.parsed, complete };
    this.ownValue = Buffer.from(head + METADATA);
    return this.head;
  }
}

function headOf({ kind, apiVersion }: StoredAs): string {
  return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
}

function withoutVersion(metadata: KubeObject['metadata']): Omit<KubeObject['metadata'], 'resourceVersion'> {
  const { resourceVersion: _, ...rest } = metadata;
  return rest;
}

/** ASCII text, then the bytes of `source` from `from` to `end`, then more ASCII text. */
function join(text: string, source: Buffer, from: number, end = source.length, after = ''): Buffer {
  const joined = Buffer.allocUnsafe(text.length + end - from + after.length);
  joined.write(text, 'latin1');
  source.copy(joined, text.length, from, end);
  if (after !== '') joined.write(after, text.length + end - from, 'latin1');
  return joined;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}
