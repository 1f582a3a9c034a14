import type { Steps } from '../api/parts';
import { take } from '../api/steps/both-forms.fixture';
import { annotationsInSteps } from './annotation-steps';
import { EVENT_HEAD, printEvent } from './event';
import { auditEvent } from './event.fixture';
import { legacyLine } from './legacy-format';
import { microTime } from './micro-time';
import { recordedRequest, recordedResponse } from './recorded-body';

const parsed = (fields: Parameters<typeof auditEvent>[0]) =>
  JSON.parse(`${EVENT_HEAD}${printEvent(auditEvent(fields))}`) as Record<string, unknown>;

describe('an audit event', () => {
  it('is an object of audit.k8s.io/v1 without what is empty', () => {
    expect(parsed({})).toEqual({
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'Metadata',
      auditID: 'id-1',
      stage: 'ResponseComplete',
      requestURI: '/api/v1/namespaces/default/configmaps/a',
      verb: 'get',
      user: { username: 'alice', uid: 'alice-uid', groups: ['dev'] },
      sourceIPs: ['192.0.2.1'],
      userAgent: 'test/1.0',
      objectRef: { resource: 'configmaps', namespace: 'default', name: 'a', apiVersion: 'v1' },
      responseStatus: { metadata: {}, code: 200 },
      requestReceivedTimestamp: '2024-03-01T10:20:30.000001Z',
      stageTimestamp: '2024-03-01T10:20:30.000002Z',
    });
  });

  it('is one line whatever clients make up', () => {
    const hostile = '"\n\u2028\\x';
    const event = auditEvent({ requestURI: hostile, userAgent: hostile, verb: hostile, auditID: hostile });
    expect(printEvent(event)).not.toContain('\n');
    expect(legacyLine(event).trimEnd()).not.toContain('\n');
    expect(parsed({ userAgent: hostile }).userAgent).toBe(hostile);
  });

  it('has a line of the old format', () => {
    expect(legacyLine(auditEvent({ impersonatedUser: { name: 'eve', groups: ['g', 'h'] } }))).toBe(
      '2024-03-01T10:20:30.000001Z AUDIT: id="id-1" stage="ResponseComplete" ip="192.0.2.1" method="get" user="alice" ' +
        'groups="\\"dev\\"" as="eve" asgroups="\\"g\\",\\"h\\"" namespace="default" ' +
        'uri="/api/v1/namespaces/default/configmaps/a" response="200"\n',
    );
  });

  it('has microseconds', () => {
    expect(microTime(Date.UTC(2024, 2, 1, 10, 20, 30) + 7.25)).toBe('2024-03-01T10:20:30.007250Z');
  });
});

describe('a recorded body', () => {
  const reviews = { group: 'authentication.k8s.io', resource: 'tokenreviews', subresource: '' };
  const tokens = { group: '', resource: 'serviceaccounts', subresource: 'token' };
  const maps = { group: '', resource: 'configmaps', subresource: '' };

  it('never shows a token that is reviewed or made', () => {
    const review = { kind: 'TokenReview', spec: { token: 'secret-1', audiences: ['a'] } };
    expect(recordedRequest(review, reviews, false)).toBe(
      '{"kind":"TokenReview","spec":{"token":"<redacted>","audiences":["a"]}}',
    );
    expect(recordedResponse('', review, reviews, false)).not.toContain('secret-1');
    const made = { kind: 'TokenRequest', spec: {}, status: { token: 'secret-2' } };
    expect(recordedResponse('', made, tokens, false)).not.toContain('secret-2');
  });

  it('shows a patch as JSON, and as a text where it is none', () => {
    expect(recordedRequest(Buffer.from('{ "a": 1 }'), maps, false)).toBe('{"a":1}');
    expect(recordedRequest(Buffer.from('a: 1\n'), maps, false)).toBe('"a: 1\\n"');
  });

  it('goes without the owners of fields where the policy says so', () => {
    const object = { metadata: { name: 'a', managedFields: [{}] }, data: {} };
    expect(recordedRequest(object, maps, true)).toBe('{"metadata":{"name":"a"},"data":{}}');
    const list = JSON.stringify({ metadata: {}, items: [object] });
    expect(recordedResponse(list, undefined, maps, true)).toBe(
      '{"metadata":{},"items":[{"metadata":{"name":"a"},"data":{}}]}',
    );
  });
});

test('many annotations are printed one in a step, in their order', () => {
  const annotations = new Map(
    Array.from({ length: 3_000 }, (_, index) => [`key-${(index * 7) % 3_000}`, `"${index}"`]),
  );
  const wanted = Object.fromEntries([...annotations].sort(([a], [b]) => (a < b ? -1 : 1)));
  const { pauses } = take(annotationsInSteps(annotations) as Steps<void>);
  expect(pauses).toBeGreaterThan(annotations.size);
  expect(printEvent(auditEvent({ annotations }))).toContain(`"annotations":${JSON.stringify(wanted)}}`);
  expect(annotationsInSteps(new Map([['a', 'b']]))).toBeUndefined();
});
