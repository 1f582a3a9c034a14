import type { KubeObject } from '../../api/object';
import { collectionPath, type DiscoveredResource } from '../../client/discovery';
import type { ControllerRun } from '../controller';
import type { OwnerGraph } from './graph';
import type { Identity } from './node';

/** Their objects come and go by themselves, and very many of them: nothing is collected because of them. */
const IGNORED: ReadonlySet<string> = new Set(['events.', 'events.events.k8s.io']);
const WANTED_VERBS = ['delete', 'list', 'watch'];

/** The followed objects of a resource, and how to stop. */
interface Monitor {
  readonly known: Map<string, KubeObject>;
  stop: (() => void) | undefined;
  synced: boolean;
}

/** How many resources are listed at once, each over a connection of its own: many at once would hold up other work. */
const AT_ONCE = 3;
/** One that cannot be listed leaves its place to the next. */
const MAX_TURN_MS = 1000;

/** What an informer has to keep of an object, so that its vanishing can be told. */
function keep({ metadata: { namespace, name, uid, resourceVersion } }: KubeObject): KubeObject {
  return {
    metadata: {
      ...(namespace === undefined ? {} : { namespace }),
      ...(name === undefined ? {} : { name }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
  };
}

/** Follows the metadata of everything that can be listed, watched and deleted, and tells the graph. */
export class Monitors {
  /** By path, those of kinds that are not served now as well: what they knew is compared when the kind returns. */
  readonly #monitors = new Map<string, Monitor>();

  readonly #waiting: (() => void)[] = [];
  #turns = 0;

  constructor(
    private readonly run: ControllerRun,
    private readonly graph: OwnerGraph,
    private readonly handlers: {
      /** A monitor has told everything that there was. */
      readonly synced: () => void;
      /** An object of the resource has been told of, or gone. */
      readonly touched: (resource: DiscoveredResource) => void;
    },
  ) {}

  /** Every resource that is served has told all that there was when it was first followed. */
  get areSynced(): boolean {
    return [...this.#monitors.values()].every(({ stop, synced }) => stop === undefined || synced);
  }

  /** Follows these from now on and no others; those of `failed` groups stay as they are. */
  follow(resources: readonly DiscoveredResource[], failed: ReadonlyMap<string, string>): void {
    const wanted = resources.filter(
      ({ resource, group, verbs }) =>
        !IGNORED.has(`${resource}.${group}`) && WANTED_VERBS.every((verb) => verbs.includes(verb)),
    );
    const paths = new Set(wanted.map((resource) => collectionPath(resource)));
    for (const [path, monitor] of this.#monitors) {
      const group = path.startsWith('/apis/') ? (path.split('/')[2] ?? '') : '';
      if (!paths.has(path) && !failed.has(group)) monitor.stop?.();
    }
    for (const resource of wanted) this.#start(resource);
  }

  #start(resource: DiscoveredResource): void {
    const path = collectionPath(resource);
    const monitor: Monitor = this.#monitors.get(path) ?? { known: new Map(), stop: undefined, synced: false };
    if (monitor.stop !== undefined) return;
    this.#monitors.set(path, monitor);
    const end = new AbortController();
    monitor.synced = false;
    monitor.stop = () => {
      monitor.stop = undefined;
      end.abort();
    };
    const { apiVersion, kind, namespaced } = resource;
    const identityOf = ({ metadata: { namespace, name = '', uid = '' } }: KubeObject): Identity => ({
      apiVersion,
      kind,
      namespace: namespaced ? namespace : undefined,
      name,
      uid,
    });
    const follow = (done: () => void): void =>
      this.run.follow({
        path,
        representation: 'metadata',
        keep,
        known: monitor.known,
        until: end.signal,
        changed: (object) => {
          this.graph.changed(identityOf(object), object.metadata);
          if (monitor.synced) this.handlers.touched(resource);
        },
        deleted: (object) => {
          this.graph.deleted(identityOf(object));
          if (monitor.synced) this.handlers.touched(resource);
        },
        synced: () => {
          monitor.synced = true;
          done();
          this.handlers.synced();
        },
      });
    this.#waiting.push(() => {
      if (!end.signal.aborted) this.#takeTurn(follow);
    });
    this.#next();
  }

  #takeTurn(begin: (done: () => void) => void): void {
    let isOver = false;
    const done = (): void => {
      if (isOver) return;
      isOver = true;
      this.#turns--;
      this.#next();
    };
    this.#turns++;
    this.run.after(MAX_TURN_MS, done);
    begin(done);
  }

  #next(): void {
    while (this.#turns < AT_ONCE) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      next();
    }
  }
}
