import { dirname, join } from 'node:path';
import { Root, type Type } from 'protobufjs';
import {
  compact,
  decodeWatchResponse,
  encodeWatchCreation,
  leaseGrant,
  PROGRESS_REQUEST,
  range,
  status,
  txn,
} from './messages';

/** etcd's own definitions, as the etcd3 library carries them. */
const definitions = (() => {
  const folder = join(dirname(require.resolve('etcd3/package.json')), 'proto');
  const root = new Root();
  root.resolvePath = (_origin, target) => join(folder, target.split('/').at(-1)!);
  return root.loadSync('rpc.proto', { keepCase: true });
})();

const typeOf = (name: string): Type => definitions.lookupType(`etcdserverpb.${name}`);

/** What etcd reads in our bytes. */
function read(name: string, bytes: Uint8Array): unknown {
  const type = typeOf(name);
  return type.toObject(type.decode(bytes), { longs: Number, enums: String, bytes: String });
}

/** What etcd would send. */
function written(name: string, value: Record<string, unknown>): Buffer {
  const type = typeOf(name);
  return Buffer.from(type.encode(type.fromObject(value)).finish());
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const [a, b] = [Buffer.from('a'), Buffer.from('b')];
const header = { cluster_id: '9223372036854775809', member_id: 1, revision: 5_000_000_000, raft_term: 3 };
const pair = { key: a, create_revision: 7, mod_revision: 8_000_000_000, version: 2, value: b, lease: 99 };
const readPair = { key: a, createRevision: 7, modRevision: 8_000_000_000, version: 2, value: b };

describe('requests to etcd', () => {
  it('read ranges', () => {
    const request = { key: a, rangeEnd: b, limit: 500, revision: 6_000_000_000 };
    expect(read('RangeRequest', range.encode(request))).toEqual({
      key: base64('a'),
      range_end: base64('b'),
      limit: 500,
      revision: 6_000_000_000,
    });
    expect(read('RangeRequest', range.encode({ key: a, limit: Infinity, countOnly: true }))).toEqual({
      key: base64('a'),
      count_only: true,
    });
  });

  it('put what stands at a revision, and read it otherwise', () => {
    const put = { key: a, value: b, lease: '7587870391349364230' };
    const request = { key: a, expected: { modRevision: 12 }, success: { put }, failure: { key: a } };
    expect(read('TxnRequest', txn.encode(request))).toMatchObject({
      compare: [{ target: 'Mod', key: base64('a'), mod_revision: 12 }],
      success: [{ request_put: { key: base64('a'), value: base64('b') } }],
      failure: [{ request_range: { key: base64('a') } }],
    });
    const { success } = typeOf('TxnRequest').decode(txn.encode(request)) as unknown as {
      success: readonly { readonly request_put: { readonly lease: unknown } }[];
    };
    expect(String(success[0]!.request_put.lease)).toBe(put.lease);
  });

  it('are written one after the other, whatever became of the one before', () => {
    const request = { key: a, expected: { modRevision: 12 }, success: { remove: a }, failure: { key: a } };
    const expected = read('TxnRequest', txn.encode(request));
    const broken = { ...request, success: { put: { key: a, value: undefined as unknown as Buffer } } };
    expect(() => txn.encode(broken)).toThrow(TypeError);
    expect(read('TxnRequest', txn.encode(request))).toEqual(expected);
    const value = Buffer.alloc(1_000_000, 'x');
    expect(read('TxnRequest', txn.encode({ ...request, success: { put: { key: a, value } } }))).toMatchObject({
      success: [{ request_put: { value: value.toString('base64') } }],
    });
    expect(read('TxnRequest', txn.encode(request))).toEqual(expected);
  });

  it('delete, and compare versions', () => {
    const request = { key: a, expected: { version: 0 }, success: { remove: a }, failure: { key: a } };
    expect(read('TxnRequest', txn.encode(request))).toMatchObject({
      compare: [{ key: base64('a'), version: 0 }],
      success: [{ request_delete_range: { key: base64('a') } }],
    });
  });

  it.each([true, false])(
    'watch in fragments, with reports of progress, what stood there before: %p',
    (withPrevious) => {
      const bytes = encodeWatchCreation({ key: a, rangeEnd: b, startRevision: 17, withPrevious });
      expect(read('WatchRequest', bytes)).toEqual({
        create_request: {
          key: base64('a'),
          range_end: base64('b'),
          start_revision: 17,
          progress_notify: true,
          ...(withPrevious && { prev_kv: true }),
          fragment: true,
        },
      });
      expect(read('WatchRequest', PROGRESS_REQUEST)).toEqual({ progress_request: {} });
    },
  );

  it('compact, grant leases and ask for the version', () => {
    expect(read('CompactionRequest', compact.encode({ revision: 9 }))).toEqual({ revision: 9 });
    expect(read('LeaseGrantRequest', leaseGrant.encode({ ttlSeconds: 60 }))).toEqual({ TTL: 60 });
    expect(read('StatusRequest', status.encode())).toEqual({});
  });
});

describe('answers of etcd', () => {
  it('carry the pairs of a range, the revision and the count', () => {
    const response = range.decode(written('RangeResponse', { header, kvs: [pair, pair], more: true, count: 12 }));
    expect(response).toEqual({ revision: header.revision, pairs: [readPair, readPair], count: 12 });
  });

  it('say whether a transaction was made, and what stands there if not', () => {
    const made = { header, succeeded: true, responses: [{ response_put: { header } }] };
    expect(txn.decode(written('TxnResponse', made))).toEqual({
      revision: header.revision,
      succeeded: true,
      pairs: [],
    });
    const lost = { header, succeeded: false, responses: [{ response_range: { header, kvs: [pair], count: 1 } }] };
    expect(txn.decode(written('TxnResponse', lost))).toMatchObject({ succeeded: false, pairs: [readPair] });
  });

  it('carry the events of a watch', () => {
    const events = [
      { type: 'Put', kv: pair },
      { type: 'Delete', kv: { key: a, mod_revision: 9 }, prev_kv: pair },
    ];
    expect(decodeWatchResponse(written('WatchResponse', { header, watch_id: 3, events, fragment: true }))).toEqual({
      revision: header.revision,
      created: false,
      canceled: false,
      compactRevision: 0,
      cancelReason: '',
      fragment: true,
      events: [
        { isDelete: false, pair: readPair, previous: undefined },
        {
          isDelete: true,
          pair: { key: a, createRevision: 0, modRevision: 9, version: 0, value: Buffer.alloc(0) },
          previous: readPair,
        },
      ],
    });
  });

  it('say why a watch has ended', () => {
    const ended = { header, created: true, canceled: true, compact_revision: 20, cancel_reason: 'gone' };
    expect(decodeWatchResponse(written('WatchResponse', ended))).toMatchObject({
      created: true,
      canceled: true,
      compactRevision: 20,
      cancelReason: 'gone',
    });
  });

  it('give a lease with all its bits, and how a server is', () => {
    const granted = { header, ID: '7587870391349364230', TTL: 60 };
    expect(leaseGrant.decode(written('LeaseGrantResponse', granted))).toBe(granted.ID);
    const told = { header, version: '3.4.31', dbSize: '8589934593', leader: 7, dbSizeInUse: 4, errors: ['a', 'b'] };
    expect(status.decode(written('StatusResponse', told))).toEqual({
      version: '3.4.31',
      fileBytes: 8589934593,
      inUseBytes: 4,
      quotaBytes: undefined,
      errors: ['a', 'b'],
    });
  });
});
