import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../history/simulated-run';
import type { HttpClient, Json } from './http-client';

/** How a client comes to know a collection. */
export interface MirrorPlan {
  /** labelSelector and fieldSelector, encoded. */
  readonly selector: string;
  /** Which version its first list, or its streaming list, asks for. */
  readonly version: 'unset' | 'any' | 'not older than' | 'exact';
  /** Objects in a page; or a streaming list, for which versions are never exact. */
  readonly limit: number | undefined | 'streaming';
}

const SELECTORS = [
  '',
  'labelSelector=parity%3Deven',
  'labelSelector=parity%21%3Deven',
  'labelSelector=parity+in+%28even%2Codd%29',
  'labelSelector=%21parity',
  'fieldSelector=metadata.name%3Da',
  'fieldSelector=metadata.name%21%3Db',
  'labelSelector=parity%3Dodd&fieldSelector=metadata.name%21%3Dc',
] as const;
const VERSIONS = ['unset', 'any', 'not older than', 'exact'] as const;
const LIMITS = [undefined, 1, 2, 3, 'streaming', 'streaming'] as const;

export function randomPlan(random: Random): MirrorPlan {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const limit = pick(LIMITS);
  const version = pick(limit === 'streaming' ? VERSIONS.slice(0, 3) : VERSIONS);
  return { selector: pick(SELECTORS), version, limit };
}

/** So long that a stream gives a bookmark two seconds before its end, and events after it. */
const STREAM_SECONDS = 3;
const PAUSE_MS = 50;

/** What a client holds of each object: enough to tell any two versions apart. */
type Held = Pick<Json, 'data'> & Pick<Json['metadata'], 'uid' | 'resourceVersion' | 'labels'>;

function heldOf({ metadata: { uid, resourceVersion, labels }, data }: Json): Held {
  return { uid, resourceVersion, ...(labels && { labels }), ...(data && { data }) };
}

/**
 * Keeps its own copy of a collection, as informers do: a list by its plan, then watches that resume where the last one
 * ended. At each bookmark, and when a watch ends, the copy has to be what an exact list of that version gives.
 */
export class Mirror {
  readonly problems: string[] = [];
  /** How often it was compared. */
  compared = 0;
  readonly #copy = new Map<string, Held>();
  #reached: string | undefined;

  constructor(
    private readonly plan: MirrorPlan,
    private readonly https: readonly HttpClient[],
    private readonly path: string,
    /** A version that there has been, for plans that name one. */
    private readonly known: number,
  ) {}

  /** Until the signal aborts; the stream that is open then is followed to its end. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.plan.limit !== 'streaming') await this.#list();
    for (let turn = 0; turn === 0 || !signal.aborted; turn++) {
      await this.#follow(this.https[turn % this.https.length]!);
    }
  }

  get #version(): readonly string[] {
    const { known } = this;
    switch (this.plan.version) {
      case 'unset':
        return [];
      case 'any':
        return ['resourceVersion=0'];
      case 'not older than':
        return [`resourceVersion=${known}`, 'resourceVersionMatch=NotOlderThan'];
      case 'exact':
        return [`resourceVersion=${known}`, 'resourceVersionMatch=Exact'];
    }
  }

  async #list(): Promise<void> {
    const { selector, version, limit } = this.plan;
    const always = [selector, ...(limit === undefined ? [] : [`limit=${limit}`])];
    const { items, revision } = await this.#pages(always, this.#version);
    for (const item of items) this.#copy.set(item.metadata.name, heldOf(item));
    this.#reached = revision;
    const isFresh = version === 'exact' ? Number(revision) === this.known : Number(revision) >= this.known;
    if ((version === 'exact' || version === 'not older than') && !isFresh) {
      this.#complain(`asked for ${this.known} and got ${revision}`);
    }
    await this.#compare(revision, 'its list');
  }

  /** A list put together from its pages, each from the next server. */
  async #pages(
    always: readonly string[],
    first: readonly string[],
  ): Promise<{ readonly items: readonly Json[]; readonly revision: string }> {
    const items: Json[] = [];
    let token: string | undefined;
    let revision: string | undefined;
    for (let page = 0; page === 0 || token !== undefined; page++) {
      const query = [...always, ...(token === undefined ? first : [`continue=${token}`])].filter((term) => term !== '');
      const http = this.https[page % this.https.length]!;
      const { status, body } = await http.send('GET', `${this.path}?${query.join('&')}`);
      if (status !== 200) throw new Error(`${status} for page ${page + 1}: ${body.message}`);
      if (revision !== undefined && body.metadata.resourceVersion !== revision) {
        this.#complain(`a page of ${body.metadata.resourceVersion} continues ${revision}`);
      }
      revision = body.metadata.resourceVersion;
      items.push(...body.items);
      token = body.metadata.continue || undefined;
    }
    return { items, revision: revision! };
  }

  async #follow(http: HttpClient): Promise<void> {
    const begins = this.#reached === undefined;
    const version = begins ? this.#version.filter((term) => !term.startsWith('resourceVersionMatch')) : [];
    const query = [
      'watch=1',
      'allowWatchBookmarks=true',
      `timeoutSeconds=${STREAM_SECONDS}`,
      this.plan.selector,
      ...(begins ? ['sendInitialEvents=true', 'resourceVersionMatch=NotOlderThan', ...version] : []),
      ...(begins ? [] : [`resourceVersion=${this.#reached}`]),
    ].filter((term) => term !== '');
    if (begins) this.#copy.clear();
    let isInitial = begins;
    try {
      for await (const { type, object, ...status } of http.lines(`${this.path}?${query.join('&')}`, untilAfter())) {
        if (type === undefined || type === 'ERROR') {
          this.#complain(`was refused a watch: ${JSON.stringify(object ?? status)}`);
          await delay(PAUSE_MS);
          return;
        }
        const { name, resourceVersion } = object.metadata;
        if (type === 'DELETED') this.#copy.delete(name);
        else if (type !== 'BOOKMARK') this.#copy.set(name, heldOf(object));
        else if (object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true') isInitial = false;
        if (isInitial) continue;
        this.#reached = resourceVersion;
        if (type === 'BOOKMARK') await this.#compare(resourceVersion, 'a bookmark');
      }
      if (this.#reached !== undefined) await this.#compare(this.#reached, 'the last event of a watch');
    } catch (error) {
      this.#complain(`lost its watch: ${String(error)}`);
    }
  }

  async #compare(revision: string, what: string): Promise<void> {
    const exact = [`resourceVersion=${revision}`, 'resourceVersionMatch=Exact'];
    const { items } = await this.#pages([this.plan.selector], exact);
    const expected = new Map(items.map((item) => [item.metadata.name, heldOf(item)]));
    this.compared++;
    const texts = [this.#copy, expected].map((state) =>
      JSON.stringify([...state].sort(([a], [b]) => (a < b ? -1 : 1))),
    );
    if (texts[0] !== texts[1]) this.#complain(`${what} of ${revision} stands for ${texts[0]} instead of ${texts[1]}`);
  }

  #complain(problem: string): void {
    this.problems.push(`${JSON.stringify({ ...this.plan, known: this.known })}: ${problem}`);
  }
}

/** Well after a stream has to have ended. */
function untilAfter(): AbortSignal {
  return AbortSignal.timeout(1000 * (STREAM_SECONDS + 10));
}
