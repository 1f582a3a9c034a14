import type { IWatchResponse } from 'etcd3';
import { KeySpace } from './key-space';
import { canReportProgress } from './server-version';
import { WatchResponses } from './watch-responses';
import { CompactedError, type Revision } from '../store';

const POSITION = 10 as Revision;

type Response = Parameters<WatchResponses['next']>[0];

function response(parts: Partial<Record<keyof IWatchResponse, unknown>>): Response {
  return {
    header: { cluster_id: '1', member_id: '1', revision: '50', raft_term: '1' },
    watch_id: '0',
    created: false,
    canceled: false,
    compact_revision: '0',
    cancel_reason: '',
    fragment: false,
    events: [],
    ...parts,
  } as Response;
}

function put(key: string, revision: number, before?: number): unknown {
  const pair = (mod: number) => ({
    key: Buffer.from(`/p${key}`),
    value: Buffer.from(`v${mod}`),
    create_revision: String(before === undefined ? revision : 1),
    mod_revision: String(mod),
  });
  return { type: 'Put', kv: pair(revision), prev_kv: before === undefined ? null : pair(before) };
}

function remove(key: string, revision: number, before: number | undefined): unknown {
  return {
    ...(put(key, revision, before ?? 1) as object),
    type: 'Delete',
    ...(before === undefined && { prev_kv: null }),
  };
}

describe('the responses to a watch', () => {
  const reader = (trusts = true): WatchResponses => new WatchResponses(new KeySpace('/p'), POSITION, () => trusts);

  it('become batches that end with their last event, not with the header', () => {
    const batch = reader().next(response({ events: [put('/a', 11), put('/b', 12, 7), remove('/c', 13, 9)] }));
    expect(batch).toEqual({
      revision: 13,
      events: [
        { type: 'put', key: '/a', value: Buffer.from('v11'), revision: 11, previous: undefined },
        {
          type: 'put',
          key: '/b',
          value: Buffer.from('v12'),
          revision: 12,
          previous: { key: '/b', value: Buffer.from('v7'), revision: 7 },
        },
        { type: 'delete', key: '/c', revision: 13, previous: { key: '/c', value: Buffer.from('v9'), revision: 9 } },
      ],
    });
  });

  it('are joined when they are fragments of one', () => {
    const responses = reader();
    expect(responses.next(response({ fragment: true, events: [put('/a', 11)] }))).toBeUndefined();
    expect(responses.next(response({ fragment: true, events: [put('/b', 11)] }))).toBeUndefined();
    const batch = responses.next(response({ events: [put('/c', 11)] }));
    expect(batch?.events.map((event) => event.key)).toEqual(['/a', '/b', '/c']);
    expect(responses.next(response({ events: [put('/d', 12)] }))?.events).toHaveLength(1);
  });

  it('say that the watch was created', () => {
    const responses = reader();
    expect(responses.isCreated).toBe(false);
    expect(responses.next(response({ created: true }))).toBeUndefined();
    expect(responses.isCreated).toBe(true);
  });

  it('report progress, unless the server is one that reports too early', () => {
    expect(reader().next(response({ watch_id: '-1' }))).toEqual({ revision: 50, events: [] });
    expect(reader(false).next(response({ watch_id: '-1' }))).toBeUndefined();
  });

  it('report no progress behind what was given out', () => {
    const header = { cluster_id: '1', member_id: '1', revision: '9', raft_term: '1' };
    expect(reader().next(response({ header }))).toBeUndefined();
  });

  it('end the watch when its history is gone', () => {
    expect(() => reader().next(response({ canceled: true, compact_revision: '20' }))).toThrow(
      new CompactedError(20 as Revision),
    );
    expect(() => reader().next(response({ events: [remove('/a', 11, undefined)] }))).toThrow(CompactedError);
  });

  it('end the watch with the reason of the server', () => {
    expect(() => reader().next(response({ canceled: true, cancel_reason: 'etcdserver: no leader' }))).toThrow(
      'no leader',
    );
  });
});

describe('a server reports progress reliably', () => {
  it.each([
    ['3.3.27', false],
    ['3.4.23', false],
    ['3.4.31', true],
    ['3.5.0', false],
    ['3.5.12', false],
    ['3.5.13', true],
    ['3.6.0-rc.1', true],
    ['4.0.0', true],
    ['', false],
  ])('at version "%s": %s', (version, expected) => {
    expect(canReportProgress(version)).toBe(expected);
  });
});
