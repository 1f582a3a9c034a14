import { Registry } from 'prom-client';
import { printMetrics } from './metrics-text';
import { RequestMetrics, type RequestLabels, type RequestOutcome } from './request-metrics';

const labels: RequestLabels = {
  verb: 'GET',
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  scope: 'resource',
  dryRun: '',
};
const outcome: RequestOutcome = { code: 200, durationSeconds: 0.03, responseBytes: 1500, longRunning: false };
const BARE = 'verb="GET",version="v1",resource="pods",scope="resource"';
const LABELS = `${BARE},component="apiserver"`;

describe('RequestMetrics', () => {
  it('counts requests by code and puts their times into cumulative buckets', async () => {
    const registry = new Registry();
    const metrics = new RequestMetrics(registry);
    metrics.recordRequest(labels, outcome);
    metrics.recordRequest(labels, { ...outcome, durationSeconds: 70 });
    metrics.recordRequest(labels, { ...outcome, code: 404 });
    const text = await registry.metrics();
    expect(text).toContain(`apiserver_request_total{${LABELS},code="200"} 2`);
    expect(text).toContain(`apiserver_request_total{${LABELS},code="404"} 1`);
    expect(text).toContain(`apiserver_request_duration_seconds_bucket{${BARE},le="0.025"} 0`);
    expect(text).toContain(`apiserver_request_duration_seconds_bucket{${BARE},le="0.1"} 2`);
    expect(text).toContain(`apiserver_request_duration_seconds_bucket{${BARE},le="+Inf"} 3`);
    expect(text).toContain(`apiserver_request_duration_seconds_count{${BARE}} 3`);
    expect(text).toContain(`apiserver_request_sli_duration_seconds_bucket{${BARE},le="30"} 2`);
    expect(text).toContain(`apiserver_response_sizes_sum{${BARE}} 4500`);
  });

  it('keeps watches out of the service level', async () => {
    const registry = new Registry();
    const metrics = new RequestMetrics(registry);
    metrics.recordRequest({ ...labels, verb: 'WATCH' }, { ...outcome, longRunning: true, durationSeconds: 1800 });
    const text = String(await printMetrics(registry));
    expect(text).toContain('apiserver_request_duration_seconds_sum{verb="WATCH",version="v1"');
    expect(text).not.toMatch(/^apiserver_request_sli_duration_seconds_/m);
  });

  it('has histograms of nothing but what was asked for, and of how long watches last no buckets', async () => {
    const registry = new Registry();
    const metrics = new RequestMetrics(registry);
    metrics.recordRequest({ ...labels, verb: 'POST' }, outcome);
    metrics.recordRequest({ ...labels, verb: 'WATCH' }, { ...outcome, longRunning: true, durationSeconds: 0.001 });
    const text = String(await printMetrics(registry));
    expect(text).not.toMatch(/^apiserver_response_sizes_/m);
    expect(text.match(/^apiserver_request_duration_seconds_bucket\{verb="WATCH".*/gm)).toEqual([
      expect.stringMatching(/le="\+Inf"\} 1$/),
    ]);
  });

  it('keeps no more series than a cluster needs, and counts the others by their verb', async () => {
    const registry = new Registry();
    const metrics = new RequestMetrics(registry);
    for (let index = 0; index < 10_100; index++) metrics.recordRequest({ ...labels, resource: `r${index}` }, outcome);
    const text = String(await printMetrics(registry));
    expect(text.match(/^apiserver_request_total\{/gm)).toHaveLength(10_001);
    expect(text).toContain('apiserver_request_total{verb="GET",component="apiserver",code="200"} 100');
  });

  it('forgets what is not served any more, and what counts open watches once they have ended', async () => {
    const registry = new Registry();
    const metrics = new RequestMetrics(registry);
    const gone = { ...labels, group: 'example.com', resource: 'widgets' };
    const isServed = (group: string): boolean => group === '';
    for (const one of [labels, gone]) {
      metrics.recordRequest(one, outcome);
      metrics.recordAbort(one);
      metrics.recordTermination(one, 504);
      const { group, version, resource } = one;
      metrics.recordWatchEvents({ group, version, resource }, 1, 100);
      metrics.writes.recordBody(group === '' ? resource : `${resource}.${group}`, 'create', 100);
    }
    const end = metrics.startLongRunning(gone);
    await metrics.forgetUnserved(isServed);
    const widgets = (text: string): string[] => text.split('\n').filter((line) => line.includes('widgets'));
    expect(widgets(await registry.metrics())).toEqual([expect.stringMatching(/^apiserver_longrunning_requests.* 1$/)]);
    end();
    await metrics.forgetUnserved(isServed);
    const text = await registry.metrics();
    expect(widgets(text)).toEqual([]);
    expect(text).toContain(`apiserver_request_total{${LABELS},code="200"} 1`);
    expect(text).toContain('apiserver_watch_events_total{version="v1",resource="pods"} 1');
    expect(text).toContain('apiserver_request_body_size_bytes_count{resource="pods",verb="create"} 1');
  });

  it('lets two servers live in one process', () => {
    expect(() => [new RequestMetrics(new Registry()), new RequestMetrics(new Registry())]).not.toThrow();
  });
});
