import type { Scenario } from './scenario';
import { gunzipSync } from 'node:zlib';
import { NAMESPACE, collectionPath } from './objects';
import { LABELLED_SHARE } from './setup';

const CLIENTS = 4;
const PAGE = 500;
const PROTOBUF_MAGIC = 'k8s\0';

interface Listed {
  readonly items: readonly unknown[];
  readonly rows: readonly unknown[];
}

interface Kind {
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly expected?: (all: number) => number;
  readonly count?: (body: Buffer, head: string) => number;
}

interface Field {
  readonly number: number;
  readonly bytes: Buffer;
}

const countItems = (list: Listed) => list.items.length;
const parse = (body: Buffer) => JSON.parse(body.toString('utf8')) as Listed;

/** `count` tells how many objects a body holds; `expected` how many it should hold, of all objects. */
function list(
  id: string,
  what: string,
  { query = '', headers = {}, expected = (all) => all, count = (body) => countItems(parse(body)) }: Kind,
): Scenario {
  const request = { method: 'GET', path: collectionPath(NAMESPACE) + query, headers };
  return {
    id,
    title: `LIST ${what}, ${CLIENTS} clients`,
    unit: 'req/s',
    check: async ({ load, server, options }) => {
      const { status, body, head } = await load.once(server.target, request);
      if (status !== 200) throw new Error(`LIST has status ${status}`);
      const found = count(body, head);
      const wanted = expected(options.objects);
      if (found !== wanted) throw new Error(`LIST ${what} holds ${found} objects, not ${wanted}`);
    },
    run: ({ measure, server, options }) =>
      measure({
        target: server.target,
        request,
        clients: CLIENTS,
        warmUpMs: options.warmUpMs,
        maxMs: options.seconds * 1000,
        status: 200,
      }),
  };
}

function unzipped(body: Buffer, head: string): number {
  if (!/content-encoding: *gzip/i.test(head)) throw new Error('the list did not come as gzip');
  return countItems(parse(gunzipSync(body)));
}

/** Walks the fields of the list message: 2 are its items. */
function countProtobufItems(body: Buffer): number {
  if (body.subarray(0, 4).toString('latin1') !== PROTOBUF_MAGIC) throw new Error('the list did not come as Protobuf');
  const raw = fieldsOf(body.subarray(4)).find(({ number }) => number === 2);
  if (raw === undefined) throw new Error('the list message is empty');
  return fieldsOf(raw.bytes).filter(({ number }) => number === 2).length;
}

function fieldsOf(message: Buffer): readonly Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = message.readUInt8(at++);
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const number = varint() >>> 3;
    const length = varint();
    fields.push({ number, bytes: message.subarray(at, at + length) });
    at += length;
  }
  return fields;
}

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const ALL = '?resourceVersion=0';

export const scenarios: readonly Scenario[] = [
  list('list-consistent', 'consistent', {}),
  list('list-rv0', 'resourceVersion=0', { query: ALL }),
  list('list-limit', `limit=${PAGE}`, { query: `?limit=${PAGE}`, expected: (all) => Math.min(all, PAGE) }),
  list('list-gzip', 'resourceVersion=0, gzip', {
    query: ALL,
    headers: { 'Accept-Encoding': 'gzip' },
    count: unzipped,
  }),
  list('list-protobuf', 'resourceVersion=0, Protobuf', {
    query: ALL,
    headers: { Accept: 'application/vnd.kubernetes.protobuf' },
    count: countProtobufItems,
  }),
  list('list-table', 'resourceVersion=0, Table', {
    query: ALL,
    headers: { Accept: TABLE },
    count: (body) => parse(body).rows.length,
  }),
  list('list-label', 'consistent by label', {
    query: '?labelSelector=tenth%3Dt3',
    expected: (all) => Math.ceil((all - 3) / LABELLED_SHARE),
  }),
];
