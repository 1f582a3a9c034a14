import { stringifyExact } from '../api/codec/exact-json';
import { printJson } from '../api/codec/json-print';
import { withMetadata } from '../api/extend';
import type { KubeObject } from '../api/object';
import { isLarge, type Steps } from '../api/parts';
import type { Labels } from '../api/selectors/label-selector';
import type { CacheEntry, CacheEvent } from '../storage/cache/cache';
import type { Revision } from '../storage/store';

const NO_LABELS: Labels = {};

/** An entry for what stands in no store: the answer to a dry run, an object as it leaves a selector. */
class LocalEntry implements CacheEntry {
  private bytes: Buffer | undefined;

  constructor(
    readonly key: string,
    readonly revision: Revision,
    readonly object: KubeObject,
  ) {}

  get apiVersion(): string {
    return this.object.apiVersion ?? '';
  }

  get namespace(): string {
    return this.object.metadata.namespace ?? '';
  }

  get name(): string {
    return this.object.metadata.name ?? '';
  }

  get labels(): Labels {
    return this.object.metadata.labels ?? NO_LABELS;
  }

  pickLabels(): Labels {
    return this.labels;
  }

  parse(): KubeObject {
    return this.object;
  }

  field(_label: string, read: (object: KubeObject) => string): string {
    return read(this.object);
  }

  get size(): number {
    return this.body.length;
  }

  prepare(): undefined {
    return undefined;
  }

  prepareBody(): Steps<void> | undefined {
    return this.bytes === undefined && isLarge(this.object) ? this.print() : undefined;
  }

  /** It has nothing else. */
  forget(): void {}

  private *print(): Steps<void> {
    const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = this.object;
    const { bytes } = yield* printJson({ metadata, ...rest });
    this.bytes = bytes.subarray(1);
  }

  get body(): Buffer {
    const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = this.object;
    this.bytes ??= Buffer.from(stringifyExact({ metadata, ...rest }).slice(1));
    return this.bytes;
  }
}

/** `object` carries the resourceVersion that clients shall see, or none. */
export function localEntry(key: string, revision: Revision, object: KubeObject): CacheEntry {
  return new LocalEntry(key, revision, object);
}

/** The same object under another revision: the deletion's, mostly. */
export function atRevision({ key, object }: CacheEntry, revision: Revision): CacheEntry {
  const metadata = { ...object.metadata, resourceVersion: String(revision) };
  return localEntry(key, revision, withMetadata(object, metadata));
}

/** All watches of a resource share what they tell of an event. */
const departures = new WeakMap<CacheEvent, CacheEntry>();

/** An object's state before an event, under the event's revision: what a selector's watch reports as deleted. */
export function departed(event: CacheEvent, previous: CacheEntry): CacheEntry {
  let entry = departures.get(event);
  if (entry === undefined) {
    entry = atRevision(previous, event.revision);
    departures.set(event, entry);
  }
  return entry;
}
