import { setTimeout as delay } from 'node:timers/promises';
import { timerMs } from '../api/time/timer-limit';
import { StatusError } from '../api/errors/status-error';
import type { KubeObject } from '../api/object';
import type { ApiClient } from './api-client';

export interface LeaderElectionOptions {
  readonly client: ApiClient;
  readonly namespace: string;
  readonly name: string;
  /** Who we are; no two candidates have the same. */
  readonly identity: string;
  /** Others wait this long after the last sign of the leader. */
  readonly leaseDurationMs: number;
  /** A leader that could not renew for this long gives up; shorter than the lease's duration. */
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

/** A lease as it was last seen to change, by our own clock: clocks of others prove nothing. */
interface Observed {
  readonly version: string;
  readonly at: number;
}

/**
 * Leader election on a Lease (coordination.k8s.io/v1), as Kubernetes' own components do it. Waits to become the leader,
 * runs `lead`, whose signal aborts when leadership is lost or the outer signal aborts, and gives the lease back at the
 * end. Resolves when `lead` has.
 */
export async function runAsLeader(
  options: LeaderElectionOptions,
  lead: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { retryPeriodMs, renewDeadlineMs } = options;
  let observed: Observed | undefined;
  const attempt = async (): Promise<boolean> => {
    const result = await tryToHold(options, observed, signal);
    observed = result.observed;
    return result.held;
  };
  while (!signal.aborted && !(await attempt().catch(() => false))) await pause(retryPeriodMs, signal);
  if (signal.aborted) return;

  const lost = new AbortController();
  const leading = lead(AbortSignal.any([signal, lost.signal]));
  const ended = leading.then(() => lost.abort());
  let renewedAt = performance.now();
  const both = AbortSignal.any([signal, lost.signal]);
  while (!both.aborted) {
    await pause(retryPeriodMs, both);
    if (both.aborted) break;
    if (await attempt().catch(() => false)) renewedAt = performance.now();
    else if (performance.now() - renewedAt >= renewDeadlineMs) lost.abort();
  }
  await ended;
  await release(options).catch(() => undefined);
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await delay(timerMs(milliseconds), undefined, { signal }).catch(() => undefined);
}

function pathOf({ namespace, name }: LeaderElectionOptions): string {
  return `${collectionOf(namespace)}/${name}`;
}

function collectionOf(namespace: string): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
}

/** The wire's MicroTime. */
function microTime(): string {
  return new Date().toISOString().replace('Z', '000Z');
}

async function getLease(
  options: LeaderElectionOptions,
  signal: AbortSignal | undefined,
): Promise<KubeObject | undefined> {
  try {
    return await options.client.get(pathOf(options), signal);
  } catch (error) {
    if (error instanceof StatusError && error.status.code === 404) return undefined;
    throw error;
  }
}

async function tryToHold(
  options: LeaderElectionOptions,
  observed: Observed | undefined,
  signal: AbortSignal,
): Promise<{ readonly held: boolean; readonly observed: Observed | undefined }> {
  const { client, namespace, name, identity, leaseDurationMs } = options;
  const now = microTime();
  const lease = await getLease(options, signal);
  const mine = { holderIdentity: identity, leaseDurationSeconds: leaseDurationMs / 1000, renewTime: now };
  if (lease === undefined) {
    const spec: LeaseSpec = { ...mine, acquireTime: now, leaseTransitions: 0 };
    await client.create(collectionOf(namespace), { metadata: { name }, spec }, signal);
    return { held: true, observed: undefined };
  }
  const spec = (lease.spec ?? {}) as LeaseSpec;
  const { holderIdentity = '' } = spec;
  const version = lease.metadata.resourceVersion ?? '';
  const seen = observed?.version === version ? observed : { version, at: performance.now() };
  const free = holderIdentity === '' || performance.now() - seen.at >= leaseDurationMs;
  if (holderIdentity !== identity && !free) return { held: false, observed: seen };
  const taken: LeaseSpec =
    holderIdentity === identity
      ? { ...spec, ...mine }
      : { ...mine, acquireTime: now, leaseTransitions: (spec.leaseTransitions ?? 0) + 1 };
  await client.update(pathOf(options), { ...lease, spec: taken }, signal);
  return { held: true, observed: undefined };
}

/** A renewal that was broken off may still arrive at the server, between our reading the lease and giving it back. */
const RELEASE_ATTEMPTS = 5;

/** The next one need not wait for the lease to run out. */
async function release(options: LeaderElectionOptions): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const lease = await getLease(options, undefined);
    const spec = (lease?.spec ?? {}) as LeaseSpec;
    if (lease === undefined || spec.holderIdentity !== options.identity) return;
    const now = microTime();
    const free = { ...spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: now, acquireTime: now };
    try {
      await options.client.update(pathOf(options), { ...lease, spec: free });
      return;
    } catch (error) {
      const conflict = error instanceof StatusError && error.status.code === 409;
      if (!conflict || attempt === RELEASE_ATTEMPTS) throw error;
    }
  }
}
