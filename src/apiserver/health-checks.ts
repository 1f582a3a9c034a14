import type { HealthChecks } from '../http/routes/health-routes';
import type { HealthCheck } from '../http/routes/health';
import { sharedCheck } from '../http/routes/shared-check';
import type { Store } from '../storage/store';
import type { StartPhase, StartPhases } from './start-phases';

export interface HealthCheckOptions {
  readonly store: Pick<Store, 'health' | 'space'>;
  readonly phases: StartPhases;
  /** Unfinished start-up work counts as alive for this long. */
  readonly livezGraceMs: number;
  readonly isStopping: () => boolean;
  /** Services without which encrypted values cannot be read. Absent: there are none. */
  readonly keyServices?: readonly { readonly name: string; readonly check: () => Promise<void> }[];
  /** Throws when the log cannot be written. */
  readonly checkLog: () => void;
  /** Milliseconds of any origin. */
  readonly clock?: () => number;
}

/** What readiness calls its informers: those that a request's answer rests on. */
const INFORMERS: readonly StartPhase[] = [
  'poststarthook/generic-apiserver-start-informers',
  'poststarthook/start-apiextensions-informers',
  'poststarthook/start-kube-aggregator-informers',
];

/**
 * The named checks. `etcd` is the store, whichever it is, under the name that probes and dashboards know; the others
 * know their answer at once. `ping` says that the server answers, which its answer proves.
 */
export function healthChecks(options: HealthCheckOptions): HealthChecks {
  const {
    store,
    phases,
    livezGraceMs,
    isStopping,
    checkLog,
    keyServices = [],
    clock = () => performance.now(),
  } = options;
  const startedAt = clock();
  const ping: HealthCheck = { name: 'ping', check: () => undefined };
  const log: HealthCheck = { name: 'log', check: checkLog };
  const etcd: HealthCheck = { name: 'etcd', check: sharedCheck((signal) => store.health(signal)) };
  // Not alive would mean a restart, which gives no space; not ready keeps writes away.
  const space: HealthCheck = {
    name: 'storage-space',
    check: sharedCheck(async (signal) => {
      const shortage = (await store.space(signal)).find((one) => one.shortage !== undefined)?.shortage;
      if (shortage !== undefined) throw new Error(shortage);
    }),
  };
  const needs = (name: string, needed: readonly StartPhase[], graceMs: number): HealthCheck => ({
    name,
    isPublic: true,
    check: () => {
      if (needed.every((phase) => phases.isFinished(phase)) || clock() - startedAt < graceMs) return;
      throw new Error('not finished');
    },
  });
  const services = keyServices.map(({ name, check }) => ({ name, check: sharedCheck(check) }));
  const start = (graceMs: number) => phases.all.map((phase) => needs(phase, [phase], graceMs));
  const shutdown: HealthCheck = {
    name: 'shutdown',
    isPublic: true,
    check: () => {
      if (isStopping()) throw new Error('process is shutting down');
    },
  };
  return {
    livez: [ping, log, etcd, ...services, ...start(livezGraceMs)],
    readyz: [ping, log, etcd, ...services, space, needs('informer-sync', INFORMERS, 0), ...start(0), shutdown],
    healthz: [ping, log, etcd, ...services, ...start(0)],
  };
}
