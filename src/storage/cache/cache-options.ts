import { cacheLimit } from '../../memory/memory-limit';
import type { ResourceDecoder } from './cache';

/** The part of pino's interface that the cache uses. */
export interface CacheLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** What happened, for metrics. `storagePrefix` names the resource. */
export interface CacheObserver {
  loaded?(objects: number, durationMs: number): void;
  eventsReceived?(storagePrefix: string, count: number): void;
  decodeFailed?(storagePrefix: string): void;
  /** The watch of the store broke and is opened anew. */
  watchBroken?(): void;
  /** A read has waited for memory to be recent enough, which it is now, or is not in time. */
  waited?(durationMs: number, reached: boolean): void;
  /** The store has said how far it is, without an event. */
  progressReported?(): void;
  /** The resource is not kept any more. */
  forget?(storagePrefix: string): void;
}

export interface RegistryCacheOptions {
  /** What all keys begin with: `/registry/`. */
  readonly prefix: string;
  /** Known beforehand: their values become entries while they are loaded, instead of when they are registered. */
  readonly resources?: ReadonlyMap<string, ResourceDecoder>;
  readonly logger?: CacheLogger;
  readonly observer?: CacheObserver;
  /** Milliseconds, never going back. */
  readonly clock?: () => number;
  /** Ends loading; after that, close() ends the cache. */
  readonly signal?: AbortSignal;
  /** How long events are kept for watches that resume and for past states. */
  readonly historyMs?: number;
  readonly historyEvents?: number;
  readonly historyBytes?: number;
  /** How many past states that were asked for are kept, per resource. */
  readonly pastStates?: number;
  /** A watch that has this many events left to give out ends. */
  readonly maxEventsBehind?: number;
  readonly pageSize?: number;
  /** Parsed objects that are kept, and the bytes of their JSON. */
  readonly parsedObjects?: number;
  readonly parsedBytes?: number;
  /** Parsed objects throw when changed; for tests. */
  readonly freezeObjects?: boolean;
  /** How often a quiet watch is checked. */
  readonly watchdogMs?: number;
  /** A watch that has not brought a known revision after this time is opened anew. */
  readonly stalledMs?: number;
}

/** What holds where an option is absent. */
export const DEFAULTS = {
  historyMs: 5 * 60_000,
  historyEvents: 200_000,
  historyBytes: cacheLimit(128 * 1024 * 1024),
  pastStates: 16,
  maxEventsBehind: 100_000,
  pageSize: 5_000,
  parsedObjects: 4_096,
  parsedBytes: cacheLimit(64 * 1024 * 1024),
  freezeObjects: false,
  watchdogMs: 60_000,
  stalledMs: 10_000,
} as const;
