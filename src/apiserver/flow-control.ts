import { formatDate } from '../api/time/rfc3339';
import type { KubeObject } from '../api/object';
import { WorkQueue } from '../async/work-queue';
import { ensureObject } from '../bootstrap/ensure-object';
import {
  FLOW_CONTROL_CONSUMER,
  FLOW_CONTROL_GROUP,
  flowControlObjects,
  isMandatory,
  reconcileFlowControl,
} from '../bootstrap/flow-control-objects';
import { isCode } from '../bootstrap/is-code';
import { readLevel, readSchema } from '../flowcontrol/configuration';
import { withDangling } from '../flowcontrol/dangling';
import type { PriorityAndFairness } from '../flowcontrol/priority-and-fairness';
import type { Logger } from '../observability/logger';
import type { ResourceSink } from '../resources/resource-feed';
import type { CloseStack } from './close-stack';
import type { StartPhases } from './start-phases';
import type { Storage } from './storage';

const SCHEMAS = 'flowschemas';
const LEVELS = 'prioritylevelconfigurations';
/** Several replicas see the same change; mostly one of them has set it right when the others come to it. */
const SETTLE_MS = 100;

/** Keeps priority and fairness as its objects say, and the objects as they should be. */
export interface FlowControl {
  /** Writes from now on: the default objects exist. */
  keepObjects(): void;
}

/** Resolves when requests go by the objects that there are. */
export async function startFlowControl(
  storage: Storage,
  fairness: PriorityAndFairness | undefined,
  phases: StartPhases,
  logger: Logger,
  parts: CloseStack,
): Promise<FlowControl> {
  if (fairness === undefined) {
    phases.leaveOut('poststarthook/priority-and-fairness-config-consumer');
    phases.leaveOut('poststarthook/priority-and-fairness-filter');
    return { keepObjects: () => undefined };
  }
  const objects = new FlowControlObjects(storage, fairness, logger);
  const feed = storage.feed(objects.sinks);
  parts.add(() => objects.close());
  parts.add(() => feed.close());
  await feed.caughtUp;
  objects.apply();
  phases.finish('poststarthook/priority-and-fairness-config-consumer', () => feed.isFollowing());
  phases.finish('poststarthook/priority-and-fairness-filter');
  return objects;
}

class FlowControlObjects implements FlowControl {
  readonly #storage: Storage;
  readonly #fairness: PriorityAndFairness;
  readonly #queue: WorkQueue;
  readonly #stop = new AbortController();
  readonly #schemas = new Map<string, KubeObject>();
  readonly #levels = new Map<string, KubeObject>();
  readonly #mandatory = new Map(
    flowControlObjects()
      .filter(isMandatory)
      .map((one) => [`${one.resource}/${one.object.metadata.name ?? ''}`, one]),
  );
  readonly sinks: readonly ResourceSink[];
  #isDue = false;
  #keepsObjects = false;

  constructor(storage: Storage, fairness: PriorityAndFairness, logger: Logger) {
    this.#storage = storage;
    this.#fairness = fairness;
    this.#queue = new WorkQueue(
      (key) => this.#setRight(key),
      (key, error) => logger.warn({ err: error, object: key }, 'bringing an object of flow control up to date failed'),
    );
    this.sinks = [this.#sinkOf(SCHEMAS, this.#schemas), this.#sinkOf(LEVELS, this.#levels)];
  }

  keepObjects(): void {
    this.#keepsObjects = true;
    this.#check();
  }

  apply(): void {
    this.#isDue = false;
    this.#fairness.configure([...this.#schemas.values()].map(readSchema), [...this.#levels.values()].map(readLevel));
    if (this.#keepsObjects) this.#check();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#queue.close();
  }

  #sinkOf(storagePrefix: string, objects: Map<string, KubeObject>): ResourceSink {
    return {
      storagePrefix,
      put: (object) => {
        objects.set(object.metadata.name ?? '', object);
        this.#later();
      },
      delete: ({ metadata: { name = '' } }) => {
        objects.delete(name);
        this.#later();
      },
    };
  }

  /** What changes together is applied together. */
  #later(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      if (!this.#stop.signal.aborted) this.apply();
    });
  }

  #check(): void {
    for (const [name, schema] of this.#schemas) {
      if (this.#dangling(schema) !== undefined) this.#queue.addAfter(`${SCHEMAS}/${name}/status`, SETTLE_MS);
    }
    for (const [key, wanted] of this.#mandatory) {
      const { resource, object } = wanted;
      const existing = (resource === SCHEMAS ? this.#schemas : this.#levels).get(object.metadata.name ?? '');
      if (existing === undefined || reconcileFlowControl(existing, wanted) !== undefined) {
        this.#queue.addAfter(key, SETTLE_MS);
      }
    }
  }

  #dangling(schema: KubeObject): KubeObject | undefined {
    return withDangling(schema, (level) => this.#levels.has(level), formatDate(new Date()));
  }

  async #setRight(key: string): Promise<void> {
    const { own } = this.#storage;
    const context = { signal: this.#stop.signal, dryRun: false };
    const wanted = this.#mandatory.get(key);
    if (wanted !== undefined) {
      await ensureObject(own, wanted, (existing) => reconcileFlowControl(existing, wanted), context);
      return;
    }
    const name = key.split('/')[1] ?? '';
    const schemas = own(FLOW_CONTROL_GROUP, SCHEMAS, FLOW_CONTROL_CONSUMER);
    const strategy = schemas.served.definition.subresources.find((one) => one.name === 'status')?.strategy;
    if (strategy === undefined) return;
    const change = (current: KubeObject | undefined): KubeObject => this.#dangling(current!) ?? current!;
    try {
      await schemas.update({ namespace: '', name, change, strategy }, context);
    } catch (error) {
      // Deleted meanwhile.
      if (!isCode(error, 404)) throw error;
    }
  }
}
