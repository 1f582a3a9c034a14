import { TurnQueue } from '../async/turn-queue';
import type { UserInfo } from '../api/user';
import {
  bySchemaOrder,
  CATCH_ALL,
  MANDATORY_LEVELS,
  MANDATORY_SCHEMAS,
  type LevelConfiguration,
  type SchemaConfiguration,
} from './configuration';
import { FlowRequest, ONE_SEAT, type WorkEstimate } from './flow-request';
import { FlowStats } from './flow-stats';
import { MatchedSchema } from './matched-schema';
import type { FlowAttributes } from './matching';
import { KindLoad } from './kind-load';
import { isRead, type InFlightLimits, type Seats } from './max-in-flight';
import { PriorityLevel } from './priority-level';
import { estimateWork, type WorkSources } from './work-estimate';

export interface PriorityAndFairnessOptions {
  /** Their sum is what is executed at once, of all levels together. */
  readonly limits: InFlightLimits;
  /** What a request may wait. */
  readonly waitLimitMs: number;
}

/** How often it is looked whether requests have waited for too long. */
const EXPIRY_CHECKS = 20;
/** For how long requests that have waited begin one after another in a turn of the event loop. */
const STRETCH_MS = 4;

/**
 * Priority and fairness: which flow schema a request belongs to, which priority level that has, and when the request may
 * begin. What is configured changes with the objects; requests keep the level that they came to.
 */
export class PriorityAndFairness {
  readonly reads: KindLoad;
  readonly writes: KindLoad;
  readonly #seats: number;
  #schemas: readonly MatchedSchema[] = [];
  #catchAll!: MatchedSchema;
  #levels: ReadonlyMap<string, PriorityLevel> = new Map();
  /** By schema and level: counters outlive a configuration. */
  #stats = new Map<string, FlowStats>();
  #expiry: NodeJS.Timeout | undefined;
  /** Of requests that may begin, or are turned away, after they have waited; levels take turns. */
  readonly #turns = new TurnQueue({ stretchMs: STRETCH_MS });

  constructor(private readonly options: PriorityAndFairnessOptions) {
    const { readOnly, mutating } = options.limits;
    this.#seats = readOnly + mutating;
    this.reads = new KindLoad('readOnly', readOnly || this.#seats);
    this.writes = new KindLoad('mutating', mutating || this.#seats);
    this.configure([], []);
  }

  get readOnly(): Seats {
    return this.reads.seats;
  }

  get mutating(): Seats {
    return this.writes.seats;
  }

  /** In the order in which requests try them; those whose level is not there are left out. */
  get schemas(): readonly MatchedSchema[] {
    return this.#schemas;
  }

  get levels(): readonly PriorityLevel[] {
    return [...this.#levels.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
  }

  get stats(): Iterable<FlowStats> {
    return this.#stats.values();
  }

  /** What is stored; the mandatory ones are added where they are not there. */
  configure(schemas: readonly SchemaConfiguration[], levels: readonly LevelConfiguration[]): void {
    this.#levels = this.#configureLevels(withMandatory(levels, MANDATORY_LEVELS));
    const stats = new Map([...this.#stats].filter(([, { isUsed }]) => isUsed));
    this.#schemas = withMandatory(schemas, MANDATORY_SCHEMAS)
      .sort(bySchemaOrder)
      .flatMap((configuration) => {
        const level = this.#levels.get(configuration.level);
        if (level === undefined) return [];
        const key = `${configuration.name}/${level.name}`;
        const known = stats.get(key) ?? new FlowStats(configuration.name, level.name);
        stats.set(key, known);
        return [new MatchedSchema(configuration, level, known)];
      });
    this.#stats = stats;
    this.#catchAll = this.#schemas.find(({ name }) => name === CATCH_ALL)!;
  }

  /** A request that has come; {@link admit} says when it may begin. */
  classify<Attributes extends FlowAttributes>(
    attributes: Attributes,
    user: UserInfo,
    sources: WorkSources<Attributes> | undefined,
    now: number,
  ): FlowRequest {
    const schema = this.#schemaOf(attributes, user);
    const { level } = schema;
    const work: WorkEstimate = level.isExempt ? ONE_SEAT : estimateWork(attributes, sources, level.mostSeats);
    const kind = isRead(attributes.verb) ? this.reads : this.writes;
    return new FlowRequest(schema, level, schema.flowOf(attributes, user), work, kind, attributes, user, now);
  }

  /** True: it may begin; false: it is turned away. */
  admit(request: FlowRequest): boolean | Promise<boolean> {
    return request.level.admit(request, request.arrivedAt);
  }

  readonly #watchWaiting = (): void => {
    this.#expiry ??= setInterval(() => this.#expire(), this.options.waitLimitMs / EXPIRY_CHECKS).unref();
  };

  close(): void {
    clearInterval(this.#expiry);
    this.#expiry = undefined;
  }

  #schemaOf(attributes: FlowAttributes, user: UserInfo): MatchedSchema {
    const schemas = this.#schemas;
    for (let index = 0; index < schemas.length; index++) {
      if (schemas[index]!.matches(attributes, user)) return schemas[index]!;
    }
    return this.#catchAll;
  }

  /** Levels that stay keep their requests. Each gets a part of the seats, rounded up. */
  #configureLevels(configurations: readonly LevelConfiguration[]): ReadonlyMap<string, PriorityLevel> {
    const now = performance.now();
    const limited = configurations.filter(({ isExempt }) => !isExempt);
    // Levels without shares have no seats, even where no level has any.
    const allShares = Math.max(
      1,
      limited.reduce((sum, { shares }) => sum + shares, 0),
    );
    const levels = new Map<string, PriorityLevel>();
    for (const configuration of configurations) {
      const known = this.#levels.get(configuration.name);
      const level =
        known?.isExempt === configuration.isExempt
          ? known
          : new PriorityLevel(configuration, this.#watchWaiting, this.#turns);
      const limit = configuration.isExempt ? 0 : Math.ceil((this.#seats * configuration.shares) / allShares);
      level.reconfigure(configuration, limit, now);
      levels.set(configuration.name, level);
    }
    // What still waits in a level that is gone goes on waiting there, and may hold on to its seats until it has ended.
    for (const [name, level] of this.#levels) {
      if (levels.has(name) || (level.waiting === 0 && level.executing === 0)) continue;
      level.isQuiescing = true;
      levels.set(name, level);
    }
    return levels;
  }

  #expire(): void {
    const now = performance.now();
    let isAnyWaiting = false;
    for (const level of this.#levels.values()) {
      if (level.waiting > 0) level.expire(now - this.options.waitLimitMs, now);
      isAnyWaiting ||= level.waiting > 0;
    }
    if (!isAnyWaiting) this.close();
  }
}

function withMandatory<Configuration extends { readonly name: string }>(
  given: readonly Configuration[],
  mandatory: readonly Configuration[],
): Configuration[] {
  return [...given, ...mandatory.filter(({ name }) => !given.some((one) => one.name === name))];
}
