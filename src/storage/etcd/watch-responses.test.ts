import { KeySpace } from './key-space';
import type { KeyValue, WatchEvent, WatchResponse } from './messages';
import { canReportProgress } from './server-version';
import { WatchResponses } from './watch-responses';
import { CompactedError, type Revision } from '../store';

const POSITION = 10 as Revision;

function response(parts: Partial<WatchResponse>): WatchResponse {
  return {
    revision: 50 as Revision,
    created: false,
    canceled: false,
    compactRevision: 0 as Revision,
    cancelReason: '',
    fragment: false,
    events: [],
    ...parts,
  };
}

function put(key: string, revision: number, before?: number): WatchEvent {
  const pair = (mod: number): KeyValue => ({
    key: Buffer.from(`/p${key}`),
    value: Buffer.from(`v${mod}`),
    createRevision: (before === undefined ? revision : 1) as Revision,
    modRevision: mod as Revision,
    version: 1,
  });
  return { isDelete: false, pair: pair(revision), previous: before === undefined ? undefined : pair(before) };
}

function remove(key: string, revision: number, before: number | undefined): WatchEvent {
  const event = put(key, revision, before ?? 1);
  return { ...event, isDelete: true, previous: before === undefined ? undefined : event.previous };
}

describe('the responses to a watch', () => {
  const reader = (trusts = true, withPrevious = true): WatchResponses =>
    new WatchResponses(new KeySpace('/p'), POSITION, withPrevious, () => trusts);

  it('become batches that end with their last event, not with the header', () => {
    const batch = reader().next([response({ events: [put('/a', 11), put('/b', 12, 7), remove('/c', 13, 9)] })]);
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
    expect(responses.next([response({ fragment: true, events: [put('/a', 11)] })])).toBeUndefined();
    expect(responses.next([response({ fragment: true, events: [put('/b', 11)] })])).toBeUndefined();
    const batch = responses.next([response({ events: [put('/c', 11)] })]);
    expect(batch?.events.map((event) => event.key)).toEqual(['/a', '/b', '/c']);
    expect(responses.next([response({ events: [put('/d', 12)] })])?.events).toHaveLength(1);
  });

  it('are joined when they arrive together', () => {
    const responses = reader();
    const arrived = [
      response({ created: true }),
      response({ events: [put('/a', 11)] }),
      response({ events: [put('/b', 12)] }),
      response({ fragment: true, events: [put('/c', 13)] }),
    ];
    const batch = responses.next(arrived);
    expect([batch?.revision, batch?.events.map((event) => event.key)]).toEqual([12, ['/a', '/b']]);
    const rest = responses.next([response({ events: [put('/d', 13)] }), response({ revision: 20 as Revision })]);
    expect([rest?.revision, rest?.events.map((event) => event.key)]).toEqual([20, ['/c', '/d']]);
  });

  it('say that the watch was created', () => {
    const responses = reader();
    expect(responses.isCreated).toBe(false);
    expect(responses.next([response({ created: true })])).toBeUndefined();
    expect(responses.isCreated).toBe(true);
  });

  it('report progress, unless the server is one that reports too early', () => {
    expect(reader().next([response({})])).toEqual({ revision: 50, events: [] });
    expect(reader(false).next([response({})])).toBeUndefined();
  });

  it('report no progress behind what was given out', () => {
    expect(reader().next([response({ revision: 9 as Revision })])).toBeUndefined();
  });

  it('end the watch when its history is gone', () => {
    expect(() => reader().next([response({ canceled: true, compactRevision: 20 as Revision })])).toThrow(
      new CompactedError(20 as Revision),
    );
    expect(() => reader().next([response({ events: [remove('/a', 11, undefined)] })])).toThrow(CompactedError);
  });

  it('need not say what stood there when nobody has asked for it', () => {
    const batch = reader(true, false).next([response({ events: [remove('/a', 11, undefined)] })]);
    expect(batch?.events).toEqual([{ type: 'delete', key: '/a', revision: 11, previous: undefined }]);
  });

  it('end the watch with the reason of the server', () => {
    expect(() => reader().next([response({ canceled: true, cancelReason: 'etcdserver: no leader' })])).toThrow(
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
