import type { CallOptions } from '@grpc/grpc-js';
import type { Etcd3, IKeyValue, IRangeRequest, IResponseHeader, ITxnRequest, IWatchResponse } from 'etcd3';
import * as messages from '../etcd/messages';
import type { Revision } from '../store';

/** The calls that the store makes, as etcd3 has them. It has 64-bit numbers in decimal, and all fields with their defaults. */

type Call<Request, Response> = (etcd: Etcd3, request: Request, options: CallOptions) => Promise<Response>;

const calls: ReadonlyMap<string, Call<unknown, unknown>> = new Map([
  row(messages.range, async (etcd, request, options) => {
    const { header, kvs, count } = await etcd.kv.range(writeRange(request), options);
    return { revision: revisionOf(header), pairs: kvs.map(readPair), count: Number(count) };
  }),
  row(messages.txn, async (etcd, request, options) => {
    const { header, succeeded, responses } = await etcd.kv.txn(writeTxn(request), options);
    // Of the operations, only the read after a comparison that failed has pairs.
    const pairs = responses[0]?.response_range?.kvs ?? [];
    return { revision: revisionOf(header), succeeded, pairs: pairs.map(readPair) };
  }),
  row(messages.compact, async (etcd, { revision }, options) => {
    await etcd.kv.compact({ revision }, options);
  }),
  row(messages.leaseGrant, async (etcd, { ttlSeconds }, options) => {
    return (await etcd.leaseClient.leaseGrant({ TTL: ttlSeconds }, options)).ID;
  }),
  row(messages.status, async (etcd, _, options) => {
    const { version, dbSize, dbSizeInUse, errors } = await etcd.maintenance.status(options);
    // 0 comes from a server that does not tell. The quota's field is younger than etcd3's definitions.
    const inUseBytes = Number(dbSizeInUse) || undefined;
    return { version, fileBytes: Number(dbSize), inUseBytes, quotaBytes: undefined, errors };
  }),
]);

export function callOf<Request, Response>({ path }: messages.Method<Request, Response>): Call<Request, Response> {
  const call = calls.get(path);
  if (call === undefined) throw new Error(`etcd3 is not asked for ${path}`);
  return call as Call<Request, Response>;
}

export function readWatchResponse(response: IWatchResponse): messages.WatchResponse {
  const { header, created, canceled, compact_revision, cancel_reason, fragment, events } = response;
  return {
    revision: revisionOf(header),
    created,
    canceled,
    compactRevision: Number(compact_revision) as Revision,
    cancelReason: cancel_reason,
    fragment,
    events: events.map(({ type, kv, prev_kv }) => ({
      isDelete: type === 'Delete',
      pair: readPair(kv),
      previous: (prev_kv as IKeyValue | null) === null ? undefined : readPair(prev_kv),
    })),
  };
}

function row<Request, Response>(
  { path }: messages.Method<Request, Response>,
  call: Call<Request, Response>,
): readonly [path: string, call: Call<unknown, unknown>] {
  return [path, call as Call<unknown, unknown>];
}

function writeRange({ key, rangeEnd, limit, revision, countOnly = false }: messages.RangeRequest): IRangeRequest {
  return {
    key: key as Buffer,
    ...(rangeEnd && { range_end: rangeEnd as Buffer }),
    ...(limit !== undefined && limit !== Infinity && { limit }),
    ...(revision !== undefined && { revision }),
    count_only: countOnly,
  };
}

function writeTxn({ key, expected, success, failure }: messages.TxnRequest): ITxnRequest {
  const compared =
    'version' in expected
      ? { target: 'Version', version: expected.version }
      : { target: 'Mod', mod_revision: expected.modRevision };
  const operation =
    'remove' in success ? { request_delete_range: { key: success.remove } } : { request_put: success.put };
  const txn = {
    compare: [{ result: 'Equal', key, ...compared }],
    success: [operation],
    failure: [{ request_range: writeRange(failure) }],
  };
  // It takes any bytes; its types want Buffers.
  return txn as unknown as ITxnRequest;
}

function readPair({ key, value, create_revision, mod_revision, version }: IKeyValue): messages.KeyValue {
  return {
    key,
    value,
    createRevision: Number(create_revision) as Revision,
    modRevision: Number(mod_revision) as Revision,
    version: Number(version),
  };
}

function revisionOf(header: IResponseHeader): Revision {
  return Number(header.revision) as Revision;
}
