import type { KubeObject } from '../api/object';
import { objectKey } from '../client/informer';
import { isStatus, startController, type Controller, type ControllerParts } from './controller';

export interface PodCollectorOptions {
  /** `--terminated-pod-gc-threshold`: as many ended pods stay; 0 or less: all of them. */
  readonly terminatedThreshold: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly roundMs?: number;
  readonly quarantineMs?: number;
}

/** What counts of a pod here. */
interface Known {
  readonly uid: string;
  readonly node: string;
  readonly ended: boolean;
  readonly terminating: boolean;
  readonly created: number;
}

const ROUND_MS = 20_000;
/** A node that is not there may not have come by the watch yet, or may come back. */
const QUARANTINE_MS = 40_000;
const ENDED_PHASES = ['Succeeded', 'Failed'];

function knownOf({ metadata, spec, status }: KubeObject): Known {
  return {
    uid: metadata.uid ?? '',
    node: ((spec ?? {}) as { readonly nodeName?: string }).nodeName ?? '',
    ended: ENDED_PHASES.includes(((status ?? {}) as { readonly phase?: string }).phase ?? ''),
    terminating: metadata.deletionTimestamp != null,
    created: Date.parse(metadata.creationTimestamp ?? ''),
  };
}

/**
 * Deletes pods that no kubelet will: of nodes that are gone, terminating ones that never had a node, and the oldest of
 * those that have ended when there are too many.
 */
export function startPodGarbageCollector(parts: ControllerParts, options: PodCollectorOptions): Controller {
  const { terminatedThreshold, now, roundMs = ROUND_MS, quarantineMs = QUARANTINE_MS } = options;
  return startController('pod-garbage-collector', parts, ({ client, signal, queue, follow, every }) => {
    const pods = new Map<string, Known>();
    const nodes = new Set<string>();
    /** Nodes that pods name and that are not there, since when. */
    const missing = new Map<string, number>();
    let synced = 0;
    const count = (): void => void synced++;

    /** Of the nodes that have been missing for long enough, those that the server does not have. */
    const goneNodes = async (): Promise<ReadonlySet<string>> => {
      const named = new Set([...pods.values()].map(({ node }) => node).filter((node) => node !== ''));
      for (const node of missing.keys()) if (nodes.has(node) || !named.has(node)) missing.delete(node);
      const gone = new Set<string>();
      for (const node of named) {
        if (nodes.has(node)) continue;
        const since = missing.get(node) ?? now();
        missing.set(node, since);
        if (now() - since >= quarantineMs && (await isGone(node))) gone.add(node);
      }
      return gone;
    };
    const isGone = async (node: string): Promise<boolean> => {
      try {
        await client.getMetadata(`/api/v1/nodes/${encodeURIComponent(node)}`, signal);
        return false;
      } catch (error) {
        if (isStatus(error, 404)) return true;
        throw error;
      }
    };
    const round = async (): Promise<void> => {
      if (synced < 2) return;
      const gone = await goneNodes();
      for (const [key, { node, terminating }] of pods) {
        if (gone.has(node) || (terminating && node === '')) queue.add(key);
      }
      if (terminatedThreshold <= 0) return;
      const ended = [...pods].filter(([, pod]) => pod.ended);
      const tooMany = ended.length - terminatedThreshold;
      if (tooMany <= 0) return;
      ended.sort(([, a], [, b]) => a.created - b.created);
      for (const [key] of ended.slice(0, tooMany)) queue.add(key);
    };
    follow({
      path: '/api/v1/pods',
      keep: ({ metadata: { namespace = '', name = '', resourceVersion = '' } }) => ({
        metadata: { namespace, name, resourceVersion },
      }),
      changed: (pod) => pods.set(objectKey(pod), knownOf(pod)),
      deleted: (pod) => pods.delete(objectKey(pod)),
      synced: count,
    });
    follow({
      path: '/api/v1/nodes',
      representation: 'metadata',
      keep: ({ metadata: { name = '', resourceVersion = '' } }) => ({ metadata: { name, resourceVersion } }),
      changed: ({ metadata: { name = '' } }) => nodes.add(name),
      deleted: ({ metadata: { name = '' } }) => nodes.delete(name),
      synced: count,
    });
    every(roundMs, round);

    return async (key) => {
      const pod = pods.get(key);
      if (pod === undefined) return;
      const [namespace = '', name = ''] = key.split('/');
      try {
        await client.delete(
          `/api/v1/namespaces/${namespace}/pods/${encodeURIComponent(name)}`,
          { gracePeriodSeconds: 0, preconditions: { uid: pod.uid } },
          signal,
        );
      } catch (error) {
        if (!isStatus(error, 404, 409)) throw error;
      }
    };
  });
}
