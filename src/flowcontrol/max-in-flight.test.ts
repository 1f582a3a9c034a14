import { Registry } from 'prom-client';
import { MaxInFlight, type Seats } from './max-in-flight';
import { registerInFlightMetrics } from './metrics';

const alice = { name: 'alice', groups: ['system:authenticated'] };
const admin = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };

describe('the requests that may be under way', () => {
  it('are counted apart for reads and writes', () => {
    const limits = new MaxInFlight({ readOnly: 1, mutating: 1 });
    expect(limits.admit('list', alice)).toBe(limits.readOnly);
    expect(limits.admit('create', alice)).toBe(limits.mutating);
    expect(limits.admit('get', alice)).toBe('dropped');
    expect(limits.admit('patch', undefined)).toBe('dropped');
    limits.readOnly.release();
    expect(limits.admit('get', alice)).toBe(limits.readOnly);
  });

  it('are more for members of system:masters, who then hold no seat', () => {
    const limits = new MaxInFlight({ readOnly: 1, mutating: 1 });
    expect(limits.admit('get', admin)).toBe(limits.readOnly);
    expect(limits.admit('get', admin)).toBe('exempt');
    expect(limits.readOnly.taken).toBe(1);
  });

  it('have no bound where it is 0', () => {
    const limits = new MaxInFlight({ readOnly: 0, mutating: 1 });
    for (let index = 0; index < 1000; index++) expect(limits.admit('get', alice)).toBe(limits.readOnly);
  });

  it('are told in the metrics: the most since the last look, and those that were turned away', async () => {
    const limits = new MaxInFlight({ readOnly: 2, mutating: 1 });
    const registry = new Registry();
    registerInFlightMetrics(registry, limits);
    const seats = ['get', 'list', 'watch'].map((verb) => limits.admit(verb, alice));
    expect(seats[2]).toBe('dropped');
    for (const seat of seats.slice(0, 2)) (seat as Seats).release();
    const text = await registry.metrics();
    expect(text).toContain('apiserver_current_inflight_requests{request_kind="readOnly"} 2');
    expect(text).toContain('apiserver_current_inflight_requests{request_kind="mutating"} 0');
    expect(text).toContain('apiserver_dropped_requests_total{request_kind="readOnly"} 1');
    expect(await registry.metrics()).toContain('apiserver_current_inflight_requests{request_kind="readOnly"} 0');
  });
});
