import { completed, type Completion } from '../api/completion';
import { ConversionNeeded, type RemoteConversion } from '../api/conversion-needed';
import { withMetadata } from '../api/extend';
import type { MaybePromise } from '../api/maybe-promise';
import type { KubeObject } from '../api/object';
import { isLarge, type Steps } from '../api/parts';
import { stepsInTurns } from '../async/steps';
import { Turn } from '../async/turn';
import { jsonEqual } from '../api/patch/json-equal';
import * as inSteps from '../api/steps/generated/patch/finished-equal';
import type { ConversionMode, EntryConversion } from '../registry/entry-conversion';
import { localEntry } from '../registry/local-entry';
import type { CacheEntry } from '../storage/cache/cache';
import type { ConversionWebhook } from './conversion-webhook';
import { ConvertedEntries, type ConversionMemory } from './converted-entries';

export interface WebhookConversionOptions {
  readonly webhook: Pick<ConversionWebhook, 'convert'>;
  readonly memory: ConversionMemory;
  /** The version that is stored. */
  readonly storageApiVersion: string;
  /** Takes out of an object of that version what its schema does not know. */
  readonly prune: (apiVersion: string) => Completion;
}

/** The conversions of one definition's objects by its webhook. */
export class WebhookConversion implements RemoteConversion {
  readonly #options: WebhookConversionOptions;
  readonly #versions = new Map<string, VersionReader>();
  /** What pure functions are waiting for, by version and name: see {@link ConversionNeeded}. */
  readonly #known = new Map<string, Set<Known>>();
  readonly #epoch: Epoch = { now: 0 };

  constructor(options: WebhookConversionOptions) {
    this.#options = options;
  }

  /** For the registry of a version. */
  ofVersion(apiVersion: string): EntryConversion {
    let reader = this.#versions.get(apiVersion);
    if (reader === undefined) {
      reader = new VersionReader(
        apiVersion,
        this.#options,
        (objects) => this.#convert(objects, apiVersion),
        this.#epoch,
      );
      this.#versions.set(apiVersion, reader);
    }
    return {
      read: (entries, mode) => reader.read(entries, mode),
      toStorage: (object) => {
        const { storageApiVersion } = this.#options;
        return object.apiVersion === storageApiVersion ? object : this.#one(object, storageApiVersion);
      },
    };
  }

  known(object: KubeObject, apiVersion: string): KubeObject {
    if (object.apiVersion === apiVersion) return object;
    for (const known of this.#knownOf(object, apiVersion)) if (jsonEqual(known.object, object)) return known.converted;
    throw this.#needed(object, apiVersion);
  }

  *knownInSteps(object: KubeObject, apiVersion: string): Steps<KubeObject> {
    if (object.apiVersion === apiVersion) return object;
    for (const known of [...this.#knownOf(object, apiVersion)]) {
      if (yield* inSteps.jsonEqual(known.object, object)) return known.converted;
    }
    throw this.#needed(object, apiVersion);
  }

  #knownOf(object: KubeObject, apiVersion: string): Iterable<Known> {
    return this.#known.get(keyOf(object, apiVersion)) ?? [];
  }

  #needed(object: KubeObject, apiVersion: string): ConversionNeeded {
    return new ConversionNeeded(async () => {
      const key = keyOf(object, apiVersion);
      const known = { object, converted: await this.#one(object, apiVersion) };
      const all = this.#known.get(key) ?? new Set();
      this.#known.set(key, all.add(known));
      return () => {
        all.delete(known);
        if (all.size === 0 && this.#known.get(key) === all) this.#known.delete(key);
      };
    });
  }

  convert(object: KubeObject, apiVersion: string): Promise<KubeObject> {
    return this.#one(object, apiVersion);
  }

  /** Lets go of everything that has been converted. */
  forget(): void {
    for (const reader of this.#versions.values()) reader.forget();
  }

  async #one(object: KubeObject, apiVersion: string): Promise<KubeObject> {
    const [converted] = await this.#convert([object], apiVersion);
    return converted!;
  }

  async #convert(objects: readonly KubeObject[], apiVersion: string): Promise<readonly KubeObject[]> {
    const { webhook, prune } = this.#options;
    const converted = await webhook.convert(objects, apiVersion);
    const completion = prune(apiVersion);
    const turn = new Turn('converting custom resources');
    const made: KubeObject[] = [];
    for (const [index, one] of converted.entries()) {
      const pruned = isLarge(one) ? await stepsInTurns(completed(completion, one), turn) : completion(one);
      const { resourceVersion } = objects[index]!.metadata;
      made.push(resourceVersion === undefined ? pruned : withMetadata(pruned, { ...pruned.metadata, resourceVersion }));
      if (turn.isOver) await turn.next();
    }
    return made;
  }
}

/** An object that has been converted. It shares most of its parts with the one that is asked about, which are not looked into. */
interface Known {
  readonly object: KubeObject;
  readonly converted: KubeObject;
}

function keyOf({ metadata: { namespace = '', name = '' } }: KubeObject, apiVersion: string): string {
  return `${apiVersion} ${namespace}/${name}`;
}

/** Counts how often the webhook has been found to answer otherwise than it did. */
interface Epoch {
  now: number;
}

/** Entries in one version. */
class VersionReader {
  readonly #converted: ConvertedEntries;
  readonly #pending = new Map<CacheEntry, Promise<CacheEntry>>();

  constructor(
    private readonly apiVersion: string,
    { memory }: WebhookConversionOptions,
    private readonly convert: (objects: readonly KubeObject[]) => Promise<readonly KubeObject[]>,
    private readonly epoch: Epoch,
  ) {
    this.#converted = new ConvertedEntries(memory);
  }

  read(entries: readonly CacheEntry[], mode: ConversionMode): MaybePromise<readonly CacheEntry[]> {
    if (entries.every(({ apiVersion }) => apiVersion === this.apiVersion)) return entries;
    return mode === 'asked' ? this.#ask(entries) : this.#shared(entries, mode === 'trusted' ? this.epoch.now : 0);
  }

  forget(): void {
    this.#converted.clear();
  }

  /**
   * A webhook may be mended or broken at any time, without notice. Who asks for one object asks the webhook, as kube-apiserver does, and
   * what that says of it is compared with what is remembered.
   */
  async #ask(entries: readonly CacheEntry[]): Promise<readonly CacheEntry[]> {
    const outdated = entries.filter(({ apiVersion }) => apiVersion !== this.apiVersion);
    try {
      const converted = await this.#make(outdated);
      const turn = new Turn('comparing what a conversion webhook says');
      for (const [index, entry] of outdated.entries()) {
        const remembered = this.#converted.get(entry, this.epoch.now);
        if (remembered !== undefined && !(await isSame(remembered, converted[index]!, turn))) this.epoch.now += 1;
      }
      return merged(entries, new Map(outdated.map((entry, index) => [entry, converted[index]!])));
    } catch (error) {
      this.epoch.now += 1;
      throw error;
    }
  }

  #shared(entries: readonly CacheEntry[], epoch: number): MaybePromise<readonly CacheEntry[]> {
    const found = new Map<CacheEntry, CacheEntry>();
    const missing: CacheEntry[] = [];
    const awaited: { readonly entry: CacheEntry; readonly converting: Promise<CacheEntry> }[] = [];
    for (const entry of entries) {
      if (entry.apiVersion === this.apiVersion) continue;
      const known = this.#converted.get(entry, epoch);
      const converting = this.#pending.get(entry);
      if (known !== undefined) found.set(entry, known);
      else if (converting !== undefined) awaited.push({ entry, converting });
      else missing.push(entry);
    }
    if (missing.length === 0 && awaited.length === 0) return merged(entries, found);
    if (missing.length > 0) {
      const making = this.#make(missing);
      const begun = this.epoch.now;
      for (const [index, entry] of missing.entries()) {
        const converting = making.then((made) => made[index]!);
        awaited.push({ entry, converting });
        this.#pending.set(entry, converting);
      }
      const done = (): void => missing.forEach((entry) => this.#pending.delete(entry));
      making.then((made) => {
        done();
        missing.forEach((entry, index) => this.#converted.set(entry, made[index]!, begun));
      }, done);
    }
    return Promise.all(awaited.map(({ converting }) => converting)).then((made) => {
      awaited.forEach(({ entry }, index) => found.set(entry, made[index]!));
      return merged(entries, found);
    });
  }

  /** Entries may be of several versions, of which each has calls of its own. */
  async #make(entries: readonly CacheEntry[]): Promise<readonly CacheEntry[]> {
    const byVersion = new Map<string, CacheEntry[]>();
    for (const entry of entries) {
      const group = byVersion.get(entry.apiVersion);
      if (group === undefined) byVersion.set(entry.apiVersion, [entry]);
      else group.push(entry);
    }
    const made = new Map<CacheEntry, CacheEntry>();
    for (const group of byVersion.values()) {
      const parsed = await eachInTurns(group, (entry) => entry.parse(), prepareEntry);
      const objects = await this.convert(parsed);
      const local = group.map((entry, index) => localEntry(entry.key, entry.revision, objects[index]!));
      // They are remembered by their size, for which they are printed.
      await eachInTurns(local, ({ body }) => body.length, prepareBody);
      group.forEach((entry, index) => made.set(entry, local[index]!));
    }
    return entries.map((entry) => made.get(entry)!);
  }
}

async function isSame(remembered: CacheEntry, converted: CacheEntry, turn: Turn): Promise<boolean> {
  if (remembered.body.equals(converted.body)) return true;
  return stepsInTurns(inSteps.jsonEqual(remembered.object, converted.object), turn);
}

function merged(entries: readonly CacheEntry[], converted: ReadonlyMap<CacheEntry, CacheEntry>): readonly CacheEntry[] {
  return entries.map((entry) => converted.get(entry) ?? entry);
}

const prepareEntry = (entry: CacheEntry): Steps<void> | undefined => entry.prepare();
const prepareBody = (entry: CacheEntry): Steps<void> | undefined => entry.prepareBody();

/** `items.map(make)`, while others have their turn: a list may have all objects of a resource. `prepare`: first, in steps, for large ones. */
async function eachInTurns<Item, Made>(
  items: readonly Item[],
  make: (item: Item, index: number) => Made,
  prepare?: (item: Item) => Steps<void> | undefined,
): Promise<readonly Made[]> {
  const turn = new Turn('converting custom resources');
  const made: Made[] = [];
  for (const [index, item] of items.entries()) {
    const steps = prepare?.(item);
    if (steps !== undefined) await stepsInTurns(steps, turn);
    made.push(make(item, index));
    if (turn.isOver) await turn.next();
  }
  return made;
}
