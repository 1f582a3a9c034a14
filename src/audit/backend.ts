import type { MaybePromise } from '../api/maybe-promise';
import type { AuditEvent } from './event';

/** Keeps events, or hands them on. */
export interface AuditBackend {
  /** False: not all of them could be kept. Never rejects. */
  process(events: readonly AuditEvent[]): MaybePromise<boolean>;
  /** Keeps what is still waiting, as far as that is possible in time. */
  close(): Promise<void>;
}

/** `batch`: requests wait for nothing; `blocking`: they wait; `blocking-strict`: they fail when their first event cannot be kept. */
export const AUDIT_MODES = ['batch', 'blocking', 'blocking-strict'] as const;
export type AuditMode = (typeof AUDIT_MODES)[number];

/** Which part could not do its work, as kube-apiserver's metric calls it. */
export type AuditPlugin = 'log' | 'webhook' | 'buffered' | 'truncate';

/** Hears of events that were lost. */
export type ReportLoss = (plugin: AuditPlugin, events: number, reason: string) => void;

/** Whether all is kept, as soon as that is known. */
export function allKept(results: readonly MaybePromise<boolean>[]): MaybePromise<boolean> {
  const pending = results.filter((result) => typeof result !== 'boolean');
  const isKept = !results.includes(false);
  return pending.length === 0 ? isKept : Promise.all(pending).then((known) => isKept && known.every(Boolean));
}

/** All of them get every event; an event is kept when all have kept it. */
export function allBackends(backends: readonly AuditBackend[]): AuditBackend {
  const [only] = backends;
  if (only !== undefined && backends.length === 1) return only;
  return {
    process: (events) => {
      return allKept(backends.map((backend) => backend.process(events)));
    },
    close: async () => {
      await Promise.all(backends.map((backend) => backend.close()));
    },
  };
}

/** Losses are reported, and no request fails for them. */
export function withoutFailures(backend: AuditBackend): AuditBackend {
  return {
    process: (events) => {
      const kept = backend.process(events);
      return typeof kept === 'boolean' ? true : kept.then(() => true);
    },
    close: () => backend.close(),
  };
}
