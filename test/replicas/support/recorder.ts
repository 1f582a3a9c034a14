import type { Fields, Filter, Freshness, GetCall, ListCall, Version, WriteCall } from '../../history/history';
import type { Response, HttpClient, Json } from './http-client';

/** The field that is a label; all others are data of the ConfigMap. */
const LABEL = 'parity';

export function fieldsOf(object: Pick<Json, 'data' | 'metadata'>): Fields {
  return { ...object.data, ...object.metadata.labels };
}

export function versionOf(object: Json): Version {
  const { uid, resourceVersion } = object.metadata;
  return { uid, revision: Number(resourceVersion), fields: fieldsOf(object) };
}

function bodyOf(key: string | undefined, fields: Fields, resourceVersion?: number): object {
  const { [LABEL]: label, ...data } = fields;
  return {
    metadata: {
      ...(key === undefined ? {} : { name: key }),
      ...(resourceVersion === undefined ? {} : { resourceVersion: String(resourceVersion) }),
      ...(label === undefined ? {} : { labels: { [LABEL]: label } }),
    },
    data,
  };
}

/** What clients share: where their calls are written down. */
export interface CallLog {
  readonly calls: (WriteCall | GetCall | ListCall)[];
  /** Writes without a clear answer, in words. */
  readonly failures: string[];
}

/** One client of ConfigMaps in one namespace, which writes down every call with its times. */
export class Recorder {
  constructor(
    readonly name: string,
    private readonly http: Pick<HttpClient, 'send'>,
    private readonly path: string,
    private readonly log: CallLog,
  ) {}

  create(key: string, fields: Fields): Promise<Version | undefined> {
    return this.write('create', key, fields, undefined, () => this.http.send('POST', this.path, bodyOf(key, fields)));
  }

  update(key: string, base: number, fields: Fields): Promise<Version | undefined> {
    const body = bodyOf(key, fields, base);
    return this.write('update', key, fields, base, () => this.http.send('PUT', `${this.path}/${key}`, body));
  }

  patch(key: string, fields: Fields): Promise<Version | undefined> {
    const type = 'application/merge-patch+json';
    const body = bodyOf(undefined, fields);
    return this.write('patch', key, fields, undefined, () =>
      this.http.send('PATCH', `${this.path}/${key}`, body, type),
    );
  }

  /** Server-side apply in the client's name, which takes fields away from others who own them. */
  apply(key: string, fields: Fields): Promise<Version | undefined> {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', ...bodyOf(key, fields) };
    const path = `${this.path}/${key}?fieldManager=${this.name}&force=true`;
    return this.write('apply', key, fields, undefined, () =>
      this.http.send('PATCH', path, body, 'application/apply-patch+yaml'),
    );
  }

  /** Whatever stands there, or only one version of it. */
  delete(key: string, base?: number): Promise<Version | undefined> {
    const body = base === undefined ? undefined : { preconditions: { resourceVersion: String(base) } };
    return this.write('delete', key, {}, base, () => this.http.send('DELETE', `${this.path}/${key}`, body));
  }

  /** Undefined for 404. Rejects when there was no answer that says what stands there. */
  async get(key: string, freshness: Freshness = { type: 'newest' }): Promise<Version | undefined> {
    const calledAt = performance.now();
    const { status, body } = await this.http.send('GET', `${this.path}/${key}${queryOf(freshness, [])}`);
    const returnedAt = performance.now();
    if (status !== 200 && status !== 404) throw new Error(`${status} for a GET: ${JSON.stringify(body)}`);
    const found = status === 200 ? versionOf(body) : undefined;
    this.log.calls.push({ kind: 'get', client: this.name, key, calledAt, returnedAt, freshness, found });
    return found;
  }

  /** A list, in pages when `limit` is given, each from the next of `https` if there are several. */
  async list(
    freshness: Freshness = { type: 'newest' },
    {
      limit,
      filter,
      https = [this.http],
    }: { limit?: number; filter?: Filter; https?: readonly Pick<HttpClient, 'send'>[] } = {},
  ): Promise<ListCall> {
    const extra = [
      ...(limit === undefined ? [] : [`limit=${limit}`]),
      ...(filter === undefined ? [] : [`labelSelector=${filter.field}%3D${filter.value}`]),
    ];
    const items = new Map<string, Version>();
    const calledAt = performance.now();
    let returnedAt = Infinity;
    let revision = 0;
    let token: string | undefined;
    for (let page = 0; page === 0 || token !== undefined; page++) {
      const http = https[page % https.length]!;
      const query = token === undefined ? queryOf(freshness, extra) : `?${[...extra, `continue=${token}`].join('&')}`;
      const { status, body } = await http.send('GET', `${this.path}${query}`);
      if (status !== 200) throw new Error(`${status} for page ${page + 1} of a list: ${JSON.stringify(body)}`);
      if (page === 0) {
        returnedAt = performance.now();
        revision = Number(body.metadata.resourceVersion);
      } else if (Number(body.metadata.resourceVersion) !== revision) {
        throw new Error(`a page of ${body.metadata.resourceVersion} continues ${revision}`);
      }
      for (const item of body.items) items.set(item.metadata.name, versionOf(item));
      token = body.metadata.continue || undefined;
    }
    const list: ListCall = {
      kind: 'list',
      client: this.name,
      key: '',
      calledAt,
      returnedAt,
      freshness,
      revision,
      items,
      ...(filter === undefined ? {} : { filter }),
    };
    this.log.calls.push(list);
    return list;
  }

  /** The new version; undefined when there is none, or none that is known. */
  private async write(
    verb: WriteCall['verb'],
    key: string,
    fields: Fields,
    base: number | undefined,
    send: () => Promise<Response>,
  ): Promise<Version | undefined> {
    const calledAt = performance.now();
    let response: Response | undefined;
    try {
      response = await send();
    } catch (error) {
      this.log.failures.push(`${this.name}'s ${verb} of ${key} at ${Math.round(calledAt)}: ${String(error)}`);
    }
    const outcome = outcomeOf(verb, response);
    if (response !== undefined && outcome.type === 'unknown') {
      this.log.failures.push(`${this.name}'s ${verb} of ${key}: ${response.status} ${response.body.message}`);
    }
    this.log.calls.push({
      kind: 'write',
      client: this.name,
      key,
      calledAt,
      returnedAt: outcome.type === 'unknown' ? Infinity : performance.now(),
      verb,
      fields,
      outcome,
      ...(base === undefined ? {} : { base }),
    });
    return outcome.type === 'done' && verb !== 'delete' && response !== undefined
      ? versionOf(response.body)
      : undefined;
  }
}

function outcomeOf(verb: WriteCall['verb'], response: Response | undefined): WriteCall['outcome'] {
  if (response === undefined || response.status >= 500 || response.status === 429) return { type: 'unknown' };
  const { status, body } = response;
  if (status < 300) {
    // A finished deletion is answered with a Status that names the object, or with the object.
    if (verb === 'delete') return { type: 'done', uid: body.details?.uid ?? body.metadata.uid };
    return { type: 'done', ...versionOf(body) };
  }
  if (status === 404) return { type: 'refused', reason: 'missing' };
  if (status === 409) return { type: 'refused', reason: body.reason === 'AlreadyExists' ? 'exists' : 'conflict' };
  throw new Error(`${status} for a ${verb}: ${JSON.stringify(body)}`);
}

function queryOf(freshness: Freshness, extra: readonly string[]): string {
  const version = ((): readonly string[] => {
    switch (freshness.type) {
      case 'newest':
        return [];
      case 'any':
        return ['resourceVersion=0'];
      case 'not older than':
        return [`resourceVersion=${freshness.revision}`, 'resourceVersionMatch=NotOlderThan'];
      case 'exact':
        return [`resourceVersion=${freshness.revision}`, 'resourceVersionMatch=Exact'];
    }
  })();
  const terms = [...version, ...extra];
  return terms.length === 0 ? '' : `?${terms.join('&')}`;
}
