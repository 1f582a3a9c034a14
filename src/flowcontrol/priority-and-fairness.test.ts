import { setImmediate as nextTurn } from 'node:timers/promises';
import type { UserInfo } from '../api/user';
import { readLevel, readSchema } from './configuration';
import type { FlowRequest, WorkEstimate } from './flow-request';
import type { FlowAttributes } from './matching';
import { PriorityAndFairness } from './priority-and-fairness';

const GET: FlowAttributes = {
  isResourceRequest: true,
  verb: 'get',
  path: '',
  version: 'v1',
  group: '',
  resource: 'pods',
  subresource: '',
  namespace: 'a',
  name: 'p',
};
const user = (name: string, ...groups: string[]): UserInfo => ({ name, groups: [...groups, 'system:authenticated'] });

const level = (name: string, shares: number, queuing?: object) =>
  readLevel({
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1beta1',
    kind: 'PriorityLevelConfiguration',
    metadata: { name, uid: `${name}-uid` },
    spec: {
      type: 'Limited',
      limited: {
        assuredConcurrencyShares: shares,
        limitResponse: queuing === undefined ? { type: 'Reject' } : { type: 'Queue', queuing },
      },
    },
  });
const schema = (
  name: string,
  precedence: number,
  levelName: string,
  rules: readonly object[],
  distinguisher?: string,
) =>
  readSchema({
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1beta1',
    kind: 'FlowSchema',
    metadata: { name, uid: `${name}-uid` },
    spec: {
      priorityLevelConfiguration: { name: levelName },
      matchingPrecedence: precedence,
      ...(distinguisher === undefined ? {} : { distinguisherMethod: { type: distinguisher } }),
      rules,
    },
  });
const everything = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};
const ofUsers = (...names: string[]) => ({
  subjects: names.map((name) => ({ kind: 'User', user: { name } })),
  ...everything,
});

/** Catch-all's five shares beside 95: of 100 seats, the level gets 95. */
function fairness(queuing: object | undefined, limits = { readOnly: 4, mutating: 0 }): PriorityAndFairness {
  const created = new PriorityAndFairness({ limits, waitLimitMs: 60_000 });
  created.configure([schema('all', 500, 'work', [ofUsers('*')], 'ByUser')], [level('work', 1e9, queuing)]);
  return created;
}

const QUEUES = { queues: 64, handSize: 4, queueLengthLimit: 3 };

function arrive(
  apf: PriorityAndFairness,
  name: string,
  { seats = 1, finalSeats = 0, finalMs = 0 }: Partial<WorkEstimate> = {},
): { readonly request: FlowRequest; readonly admitted: boolean | Promise<boolean> } {
  const sources = { listed: () => seats * 100, watchers: () => finalSeats * 10 };
  const attributes = {
    ...GET,
    ...(seats > 1 ? { verb: 'list', name: '' } : {}),
    ...(finalMs > 0 ? { verb: 'update' } : {}),
  };
  const request = apf.classify(attributes, user(name), sources, performance.now());
  return { request, admitted: apf.admit(request) };
}

describe('a level without shares', () => {
  it('holds what comes to it, until it has some', async () => {
    const apf = fairness(QUEUES);
    const schemas = [schema('all', 500, 'work', [ofUsers('*')], 'ByUser')];
    apf.configure(schemas, [level('work', 0, QUEUES)]);
    const { admitted } = arrive(apf, 'alice');
    expect(admitted).toBeInstanceOf(Promise);
    apf.configure(schemas, [level('work', 1, QUEUES)]);
    expect(await admitted).toBe(true);
    apf.close();
  });
});

describe('the flow schema of a request', () => {
  const classified = (apf: PriorityAndFairness, attributes: FlowAttributes, who: UserInfo): string =>
    apf.classify(attributes, who, undefined, 0).schema.name;

  it('is the one of the lowest precedence that matches, and the first by name among equals', () => {
    const apf = new PriorityAndFairness({ limits: { readOnly: 1, mutating: 1 }, waitLimitMs: 1 });
    const rules = [ofUsers('*')];
    apf.configure(
      [schema('late', 20, 'l', rules), schema('b', 10, 'l', rules), schema('a', 10, 'l', rules)],
      [level('l', 1)],
    );
    expect(classified(apf, GET, user('alice'))).toBe('a');
    expect(classified(apf, GET, user('root', 'system:masters'))).toBe('exempt');
  });

  it('is none whose level is not there', () => {
    const apf = new PriorityAndFairness({ limits: { readOnly: 1, mutating: 1 }, waitLimitMs: 1 });
    apf.configure([schema('dangling', 10, 'missing', [ofUsers('*')])], []);
    expect(classified(apf, GET, user('alice'))).toBe('catch-all');
    apf.configure([schema('dangling', 10, 'missing', [ofUsers('*')])], [level('missing', 1)]);
    expect(classified(apf, GET, user('alice'))).toBe('dangling');
  });

  const account = (namespace: string, name: string) => ({
    kind: 'ServiceAccount',
    serviceAccount: { namespace, name },
  });
  it.each<[string, readonly object[], string, readonly string[], boolean]>([
    ['a user of that name', [{ kind: 'User', user: { name: 'alice' } }], 'alice', [], true],
    ['no user of another name', [{ kind: 'User', user: { name: 'alice' } }], 'bob', [], false],
    ['members of a group', [{ kind: 'Group', group: { name: 'dev' } }], 'bob', ['dev'], true],
    ['nobody else', [{ kind: 'Group', group: { name: 'dev' } }], 'dev', ['ops'], false],
    ['everybody by a star', [{ kind: 'Group', group: { name: '*' } }], 'bob', [], true],
    ['a service account', [account('a', 'b')], 'system:serviceaccount:a:b', [], true],
    ['not another of its namespace', [account('a', 'b')], 'system:serviceaccount:a:c', [], false],
    ['all of a namespace', [account('a', '*')], 'system:serviceaccount:a:c', [], true],
    ['none of another namespace', [account('a', '*')], 'system:serviceaccount:ab:c', [], false],
  ])('has %s as its subject', (_what, subjects, name, groups, matches) => {
    const apf = new PriorityAndFairness({ limits: { readOnly: 1, mutating: 1 }, waitLimitMs: 1 });
    apf.configure([schema('s', 10, 'l', [{ subjects, ...everything }])], [level('l', 1)]);
    expect(classified(apf, GET, user(name, ...groups)) === 's').toBe(matches);
  });

  const resource = (rule: object) => ({
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], ...rule }],
  });
  const path = (verb: string, url: string): FlowAttributes => ({ ...GET, isResourceRequest: false, verb, path: url });
  it.each<[string, object, FlowAttributes, boolean]>([
    ['a verb', resource({ verbs: ['get'] }), GET, true],
    ['another verb', resource({ verbs: ['list'] }), GET, false],
    ['another group', resource({ apiGroups: ['apps'] }), GET, false],
    ['a resource', resource({ resources: ['pods'] }), GET, true],
    ['a resource for its subresource', resource({ resources: ['pods'] }), { ...GET, subresource: 'status' }, false],
    ['a subresource', resource({ resources: ['pods/status'] }), { ...GET, subresource: 'status' }, true],
    ['a namespace', resource({ namespaces: ['a'] }), GET, true],
    ['another namespace', resource({ namespaces: ['b'] }), GET, false],
    ['any namespace, for a request without one', resource({}), { ...GET, namespace: '' }, false],
    ['cluster scope', resource({ clusterScope: true }), { ...GET, namespace: '' }, true],
    [
      'a path',
      { nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz'] }] },
      path('get', '/healthz'),
      true,
    ],
    [
      'another path',
      { nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz'] }] },
      path('get', '/livez'),
      false,
    ],
    [
      'what follows a path',
      { nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['/a/*'] }] },
      path('put', '/a/b/c'),
      true,
    ],
    ['paths, for a resource', { nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }] }, GET, false],
  ])('has a rule for %s', (_what, rules, attributes, matches) => {
    const apf = new PriorityAndFairness({ limits: { readOnly: 1, mutating: 1 }, waitLimitMs: 1 });
    const subjects = [{ kind: 'User', user: { name: '*' } }];
    apf.configure([schema('s', 10, 'l', [{ subjects, ...rules }])], [level('l', 1)]);
    expect(classified(apf, attributes, user('alice')) === 's').toBe(matches);
  });
});

describe('a priority level', () => {
  it('has its part of the seats, rounded up', () => {
    const apf = new PriorityAndFairness({ limits: { readOnly: 400, mutating: 200 }, waitLimitMs: 1 });
    apf.configure([], [level('a', 20), level('b', 40), level('catch-all', 5)]);
    const limits = Object.fromEntries(apf.levels.map(({ name, limit }) => [name, limit]));
    expect(limits).toEqual({ exempt: 0, a: 185, b: 370, 'catch-all': 47 });
  });

  it('gives a free seat at once, without anybody waiting', () => {
    const apf = fairness(QUEUES);
    expect([1, 2, 3, 4].map(() => arrive(apf, 'alice').admitted)).toEqual([true, true, true, true]);
  });

  it('has requests wait for the seats of those before them, and turns away what finds its queue full', async () => {
    const apf = fairness({ queues: 1, handSize: 1, queueLengthLimit: 2 });
    const running = [1, 2, 3, 4].map(() => arrive(apf, 'alice').request);
    const [first, second, third] = [arrive(apf, 'alice'), arrive(apf, 'alice'), arrive(apf, 'alice')];
    expect(third.admitted).toBe(false);
    expect(third.request.rejection).toBe('queue-full');
    running[0]!.release();
    expect(await first.admitted).toBe(true);
    expect(second.request.state).toBe('waiting');
    second.request.release();
    expect(await second.admitted).toBe(false);
    expect(second.request.rejection).toBe('cancelled');
    for (const request of [...running, first.request]) request.release();
    expect(apf.levels.find(({ name }) => name === 'work')).toMatchObject({ waiting: 0, executing: 0, seatsInUse: 0 });
  });

  it('has those that wait begin turn by turn of the loop, where each ends at once and lets the next one begin', async () => {
    let now = 1_000;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
    const apf = fairness({ queues: 1, handSize: 1, queueLengthLimit: 100 });
    const running = [1, 2, 3, 4].map(() => arrive(apf, 'alice').request);
    let begun = 0;
    const all = Array.from({ length: 20 }, async () => {
      const { request, admitted } = arrive(apf, 'alice');
      expect(await admitted).toBe(true);
      begun++;
      now += 6;
      request.release();
    });
    running[0]!.release();
    const perTurn: number[] = [];
    for (let before = 0; begun < 20; before = begun) {
      await nextTurn();
      perTurn.push(begun - before);
    }
    await Promise.all(all);
    clock.mockRestore();
    expect(Math.max(...perTurn)).toBe(1);
  });

  it('without queues turns away whatever finds no seat', () => {
    const apf = fairness(undefined);
    const running = [1, 2, 3, 4].map(() => arrive(apf, 'alice').request);
    const late = arrive(apf, 'alice');
    expect([late.admitted, late.request.rejection]).toEqual([false, 'concurrency-limit']);
    running[0]!.release();
    expect(arrive(apf, 'alice').admitted).toBe(true);
  });

  it('gives two flows the same, whichever sends more', async () => {
    // Each is executed for as long as any other, however busy the machine is.
    const clock = jest.spyOn(performance, 'now').mockReturnValue(1_000);
    const apf = fairness({ queues: 64, handSize: 1, queueLengthLimit: 500 });
    const running = [1, 2, 3, 4].map(() => arrive(apf, 'hog').request);
    const order: string[] = [];
    const waiting: FlowRequest[] = [];
    for (const name of [...Array<string>(100).fill('hog'), ...Array<string>(20).fill('quiet')]) {
      const { request, admitted } = arrive(apf, name);
      void Promise.resolve(admitted).then((isAdmitted) => isAdmitted && order.push(name) && waiting.push(request));
    }
    running.forEach((request) => request.release());
    for (let step = 0; step < 40; step++) {
      await nextTurn();
      waiting.shift()?.release();
    }
    clock.mockRestore();
    const quietAmongFirst = order.slice(0, 40).filter((name) => name === 'quiet').length;
    expect(quietAmongFirst).toBeGreaterThanOrEqual(18);
  });

  it('keeps more seats for what is wider, and has all of them for what is wider than itself', async () => {
    const apf = fairness({ queues: 8, handSize: 1, queueLengthLimit: 10 });
    const wide = arrive(apf, 'alice', { seats: 3 });
    expect(wide.admitted).toBe(true);
    const second = arrive(apf, 'alice', { seats: 3 });
    expect(second.request.state).toBe('waiting');
    const narrow = arrive(apf, 'bob');
    expect(narrow.admitted).toBe(true);
    wide.request.release();
    expect(await second.admitted).toBe(true);
    second.request.release();
    narrow.request.release();
    // Widths end at what the level has.
    expect(arrive(apf, 'alice', { seats: 50 }).request.seats).toBe(4);
  });

  const LIST: FlowAttributes = { ...GET, verb: 'list', name: '' };
  const three = { listed: () => 300, watchers: () => 0 };

  it('counts what executed requests have had so far, and not only what they were taken to last', async () => {
    const apf = fairness({ queues: 64, handSize: 1, queueLengthLimit: 500 }, { readOnly: 2, mutating: 0 });
    const at = (name: string, now: number): FlowRequest => {
      const request = apf.classify(GET, user(name), undefined, now);
      void apf.admit(request);
      return request;
    };
    const [long, , waiting] = [at('hog', 0), at('hog', 0), at('hog', 0)];
    const quiet = at('quiet', 999);
    long.level.pause(long, 1000);
    expect([waiting.state, quiet.state]).toEqual(['waiting', 'executing']);
  });

  it('lets narrow requests have the seats that wide ones leave', () => {
    const apf = fairness({ queues: 64, handSize: 1, queueLengthLimit: 500 });
    const [running, next] = [1, 2].map(() => apf.classify(LIST, user('hog'), three, 0));
    expect(apf.admit(running!)).toBe(true);
    void apf.admit(next!);
    expect(next!.state).toBe('waiting');
    // Its flow has had three seats for a second while all had four, and the list is next.
    const narrow = apf.classify(GET, user('quiet'), three, 1000);
    expect(apf.admit(narrow)).toBe(true);
  });

  it('has narrow requests wait behind a wide one that they hold up', () => {
    const apf = fairness({ queues: 64, handSize: 1, queueLengthLimit: 500 });
    for (let n = 0; n < 3; n++) void apf.admit(apf.classify(GET, user('many'), three, 0));
    const wide = apf.classify(LIST, user('alice'), three, 0);
    void apf.admit(wide);
    const narrow = apf.classify(GET, user('many'), three, 0);
    void apf.admit(narrow);
    expect([wide.state, narrow.state]).toEqual(['waiting', 'waiting']);
  });

  it('keeps the seats of a write while its watchers are told', async () => {
    const apf = fairness({ queues: 8, handSize: 1, queueLengthLimit: 10 });
    const write = arrive(apf, 'alice', { finalSeats: 4, finalMs: 5 });
    expect(write.request.work).toEqual({ seats: 1, finalSeats: 4, finalMs: 5 });
    write.request.release();
    const next = arrive(apf, 'alice');
    expect(next.request.state).toBe('waiting');
    expect(await next.admitted).toBe(true);
  });

  it('gives the seat of a request that waits for its client to others', async () => {
    const apf = fairness({ queues: 8, handSize: 1, queueLengthLimit: 10 });
    const running = [1, 2, 3, 4].map(() => arrive(apf, 'alice').request);
    running[0]!.pause();
    const other = arrive(apf, 'bob');
    expect(other.admitted).toBe(true);
    const back = running[0]!.resume();
    expect(running[0]!.state).toBe('waiting');
    other.request.release();
    expect(await back).toBe(true);
    const stats = [...apf.stats].find(({ labels }) => labels.flow_schema === 'all');
    expect(stats?.dispatched).toBe(5);
  });

  it('turns away what has waited for too long', async () => {
    const apf = new PriorityAndFairness({ limits: { readOnly: 1, mutating: 0 }, waitLimitMs: 40 });
    apf.configure([schema('all', 500, 'work', [ofUsers('*')])], [level('work', 1e9, QUEUES)]);
    const running = arrive(apf, 'alice');
    const late = arrive(apf, 'alice');
    const kept = setInterval(() => undefined, 1000);
    expect(await late.admitted).toBe(false);
    clearInterval(kept);
    expect(late.request.rejection).toBe('time-out');
    running.request.release();
    apf.close();
  });

  it('goes by a changed configuration, with the requests that it has', async () => {
    const apf = fairness(QUEUES);
    const running = [1, 2, 3, 4].map(() => arrive(apf, 'alice').request);
    const waiting = arrive(apf, 'alice');
    apf.configure(
      [schema('all', 500, 'work', [ofUsers('*')], 'ByUser')],
      [level('work', 1e9, { ...QUEUES, queues: 32 }), level('other', 1)],
    );
    expect(waiting.request.state).toBe('waiting');
    running[0]!.release();
    expect(await waiting.admitted).toBe(true);
    apf.configure([], []);
    expect(apf.levels.find(({ name }) => name === 'work')?.isQuiescing).toBe(true);
    for (const request of [...running, waiting.request]) request.release();
    apf.configure([], []);
    expect(apf.levels.map(({ name }) => name)).toEqual(['catch-all', 'exempt']);
  });
});
