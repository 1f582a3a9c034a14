import { Registry } from 'prom-client';
import { MaxInFlight, type Seats } from './max-in-flight';
import { registerInFlightMetrics } from './metrics';

const alice = { name: 'alice', groups: ['system:authenticated'] };
const admin = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };

const none = () => 0;

describe('the requests that may be under way', () => {
  it('are counted apart for reads and writes', () => {
    const limits = new MaxInFlight({ readOnly: 1, mutating: 1 });
    expect(limits.admit('list', alice, none)).toBe(limits.readOnly);
    expect(limits.admit('create', alice, none)).toBe(limits.mutating);
    expect(limits.admit('get', alice, none)).toBe('dropped');
    expect(limits.admit('patch', undefined, none)).toBe('dropped');
    limits.readOnly.release();
    expect(limits.admit('get', alice, none)).toBe(limits.readOnly);
  });

  it('are more for members of system:masters, who then hold no seat', () => {
    const limits = new MaxInFlight({ readOnly: 1, mutating: 1 });
    expect(limits.admit('get', admin, none)).toBe(limits.readOnly);
    expect(limits.admit('get', admin, none)).toBe('exempt');
    expect(limits.readOnly.taken).toBe(1);
  });

  it('are at most three quarters of all for one user, so that others find a place', () => {
    const limits = new MaxInFlight({ readOnly: 8, mutating: 1 });
    const taken = new Map<string, number>();
    const admit = (user: typeof alice) => {
      const admittance = limits.admit('get', user, ({ name }) => taken.get(name) ?? 0);
      if (admittance === limits.readOnly) taken.set(user.name, (taken.get(user.name) ?? 0) + 1);
      return admittance;
    };
    const bob = { ...alice, name: 'bob' };
    expect(Array.from({ length: 8 }, () => admit(alice) !== 'dropped')).toEqual([...Array(6).fill(true), false, false]);
    expect([admit(bob), admit(bob), admit(bob)]).toEqual([limits.readOnly, limits.readOnly, 'dropped']);
  });

  it('have no bound where it is 0', () => {
    const limits = new MaxInFlight({ readOnly: 0, mutating: 1 });
    for (let index = 0; index < 1000; index++) expect(limits.admit('get', alice, none)).toBe(limits.readOnly);
  });

  it('are told in the metrics: the most since the last look, and those that were turned away', async () => {
    const limits = new MaxInFlight({ readOnly: 2, mutating: 1 });
    const registry = new Registry();
    registerInFlightMetrics(registry, limits);
    const seats = ['get', 'list', 'watch'].map((verb) => limits.admit(verb, alice, none));
    expect(seats[2]).toBe('dropped');
    for (const seat of seats.slice(0, 2)) (seat as Seats).release();
    const text = await registry.metrics();
    expect(text).toContain('apiserver_current_inflight_requests{request_kind="readOnly"} 2');
    expect(text).toContain('apiserver_current_inflight_requests{request_kind="mutating"} 0');
    expect(text).toContain('apiserver_dropped_requests_total{request_kind="readOnly"} 1');
    expect(await registry.metrics()).toContain('apiserver_current_inflight_requests{request_kind="readOnly"} 0');
  });
});
