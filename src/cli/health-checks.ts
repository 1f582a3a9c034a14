import type { HealthChecks } from '../http/routes/health-routes';
import type { HealthCheck } from '../http/routes/health';
import { sharedCheck } from '../http/routes/shared-check';
import type { Store } from '../storage/store';

/** How far the start has come, and whether the end has begun. */
export class Lifecycle {
  #started = false;
  #stopping = false;
  readonly #createdAt = performance.now();

  started(): void {
    this.#started = true;
  }

  stopping(): void {
    this.#stopping = true;
  }

  /** Unfinished start-up work counts as alive for this long. */
  startCheck(graceMs: number): () => void {
    return () => {
      if (!this.#started && performance.now() - this.#createdAt >= graceMs) throw new Error('not finished');
    };
  }

  readonly shutdownCheck = (): void => {
    if (this.#stopping) throw new Error('process is shutting down');
  };
}

/**
 * The named checks. `etcd` is the store, whichever it is, under the name that probes and dashboards know; the others
 * know their answer at once.
 */
export function healthChecks(store: Store, lifecycle: Lifecycle, livezGraceMs: number): HealthChecks {
  const ping: HealthCheck = { name: 'ping', check: () => undefined };
  const log: HealthCheck = { name: 'log', check: () => undefined };
  const etcd: HealthCheck = { name: 'etcd', check: sharedCheck((signal) => store.health(signal)) };
  // Not alive would mean a restart, which gives no space; not ready keeps writes away.
  const space: HealthCheck = {
    name: 'storage-space',
    check: sharedCheck(async (signal) => {
      const shortage = (await store.space(signal)).find((one) => one.shortage !== undefined)?.shortage;
      if (shortage !== undefined) throw new Error(shortage);
    }),
  };
  const bootstrap = (graceMs: number): HealthCheck => ({
    name: 'poststarthook/rbac/bootstrap-roles',
    check: lifecycle.startCheck(graceMs),
  });
  return {
    livez: [ping, log, etcd, bootstrap(livezGraceMs)],
    readyz: [
      ping,
      log,
      etcd,
      space,
      { name: 'informer-sync', check: lifecycle.startCheck(0) },
      bootstrap(0),
      { name: 'shutdown', check: lifecycle.shutdownCheck },
    ],
    healthz: [ping, log, etcd, bootstrap(0)],
  };
}
