import { discover } from '../../client/discovery';
import { isStatus, startController, type Controller, type ControllerParts } from '../controller';
import { recordEvent, type ControllerEvent } from '../events';
import { attemptToDelete, attemptToOrphan } from './collect';
import { OwnerGraph } from './graph';
import { LiveObjects, NamespacedOwnerError, UnknownKindError } from './live-objects';
import { Monitors } from './monitors';
import type { GraphNode } from './node';

const WORKERS = 20;
/** How often it is asked what is served. */
const RESYNC_MS = 30_000;
/** After a definition has changed: its kind is served a moment later. */
const AFTER_DEFINITION_MS = 500;
/** A resource that cannot be listed holds up the others for so long. */
const MAX_SYNC_MS = 30_000;
/** Informers of other resources may tell a moment later of what was created before. */
const BEFORE_ORPHANING_MS = 200;
const AGAIN_MS = 1000;
/** Resources whose objects say what is served. */
const DEFINITIONS: ReadonlySet<string> = new Set(['customresourcedefinitions', 'apiservices']);

/** Keys of the queue: what is to be done with the object of a UID. */
const DELETE = 'delete ';
const ORPHAN = 'orphan ';

/**
 * Deletes what was owned by objects that are gone, and carries out foreground and orphaning deletion, by the owner references of
 * everything that is served.
 */
export function startGarbageCollector(parts: ControllerParts): Controller {
  return startController(
    'garbage-collector',
    parts,
    (run) => {
      const { client, queue, signal } = run;
      const live = new LiveObjects(client, signal);
      /** Keys about which nothing can be said while a kind is not served. */
      const waitingForKinds = new Set<string>();
      const later = (node: GraphNode, milliseconds: number): void => queue.addAfter(DELETE + node.uid, milliseconds);
      const graph = new OwnerGraph({
        attemptToDelete: (node) => queue.add(DELETE + node.uid),
        attemptToDeleteLater: (node) => later(node, AGAIN_MS),
        attemptToOrphan: (node) => queue.addAfter(ORPHAN + node.uid, BEFORE_ORPHANING_MS),
        foreignOwner: (node, owner) => run.background(() => recordEvent(run, foreignOwnerEvent(node, owner))),
      });
      const resumeWhenSynced = (): void => {
        if (monitors.areSynced) queue.resume();
      };
      const resync = async (): Promise<void> => {
        const { preferred, byKind, failed } = await discover(client, signal).catch((error: unknown) => {
          resyncSoon();
          throw error;
        });
        live.kinds = byKind;
        monitors.follow(preferred, failed);
        if (!monitors.areSynced) {
          queue.pause();
          run.after(MAX_SYNC_MS, () => queue.resume());
        }
        resumeWhenSynced();
        for (const key of waitingForKinds) queue.add(key);
        waitingForKinds.clear();
      };
      let isPlanned = false;
      const resyncSoon = (): void => {
        if (isPlanned) return;
        isPlanned = true;
        run.after(AFTER_DEFINITION_MS, () => {
          isPlanned = false;
          return resync();
        });
      };
      const monitors = new Monitors(run, graph, {
        synced: resumeWhenSynced,
        touched: ({ resource }) => {
          if (DEFINITIONS.has(resource)) resyncSoon();
        },
      });
      run.every(RESYNC_MS, resync);

      return async (key) => {
        const node = graph.get(key.slice(key.indexOf(' ') + 1));
        if (node === undefined) return;
        const again = (one: GraphNode): void => queue.add(DELETE + one.uid);
        try {
          if (key.startsWith(ORPHAN)) return await attemptToOrphan(node, { graph, live, again });
          await attemptToDelete(node, { graph, live, again });
        } catch (error) {
          if (error instanceof NamespacedOwnerError) return;
          if (error instanceof UnknownKindError) return void waitingForKinds.add(key);
          throw error;
        }
        if (!node.observed && graph.get(node.uid) === node) throw new NotObservedError();
      };
    },
    { workers: WORKERS, isExpected: (error) => isStatus(error, 409) || error instanceof NotObservedError },
  );
}

/** An owner is there and no informer has told of it yet: it may go before any does. Asked again until it is known. */
class NotObservedError extends Error {}

function foreignOwnerEvent({ identity, owners }: GraphNode, ownerUid: string): ControllerEvent {
  const owner = owners.find(({ uid }) => uid === ownerUid);
  const namespace = identity.namespace ?? '';
  const named = `[${owner?.apiVersion}/${owner?.kind}, namespace: ${namespace}, name: ${owner?.name}, uid: ${ownerUid}]`;
  return {
    component: 'garbage-collector-controller',
    about: identity,
    type: 'Warning',
    reason: 'OwnerRefInvalidNamespace',
    message: `ownerRef ${named} does not exist in namespace ${JSON.stringify(namespace)}`,
  };
}
