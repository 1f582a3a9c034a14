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
const LABELS = 'verb="GET",group="",version="v1",resource="pods",subresource="",scope="resource",component="apiserver"';

describe('RequestMetrics', () => {
  it('counts requests by code and puts their times into cumulative buckets', async () => {
    const registry = new Registry();
    const metrics = new RequestMetrics(registry);
    metrics.recordRequest(labels, outcome);
    metrics.recordRequest(labels, { ...outcome, durationSeconds: 70 });
    metrics.recordRequest(labels, { ...outcome, code: 404 });
    const text = await registry.metrics();
    expect(text).toContain(`apiserver_request_total{${LABELS},dry_run="",code="200"} 2`);
    expect(text).toContain(`apiserver_request_total{${LABELS},dry_run="",code="404"} 1`);
    expect(text).toContain(`apiserver_request_duration_seconds_bucket{${LABELS},dry_run="",le="0.025"} 0`);
    expect(text).toContain(`apiserver_request_duration_seconds_bucket{${LABELS},dry_run="",le="0.05"} 2`);
    expect(text).toContain(`apiserver_request_duration_seconds_bucket{${LABELS},dry_run="",le="60"} 2`);
    expect(text).toContain(`apiserver_request_duration_seconds_bucket{${LABELS},dry_run="",le="+Inf"} 3`);
    expect(text).toContain(`apiserver_request_duration_seconds_count{${LABELS},dry_run=""} 3`);
    expect(text).toContain(`apiserver_response_sizes_sum{${LABELS}} 4500`);
  });

  it('keeps watches out of the service level', async () => {
    const registry = new Registry();
    const metrics = new RequestMetrics(registry);
    metrics.recordRequest({ ...labels, verb: 'WATCH' }, { ...outcome, longRunning: true, durationSeconds: 1800 });
    expect(await registry.metrics()).toContain(
      `apiserver_request_sli_duration_seconds_count{${LABELS.replace('GET', 'WATCH')}} 0`,
    );
  });

  it('keeps no more series than a cluster needs, and counts the others by their verb', async () => {
    const registry = new Registry();
    const metrics = new RequestMetrics(registry);
    for (let index = 0; index < 10_100; index++) metrics.recordRequest({ ...labels, resource: `r${index}` }, outcome);
    const text = String(await printMetrics(registry));
    expect(text.match(/^apiserver_request_total\{/gm)).toHaveLength(10_001);
    const rest = LABELS.replace('v1', '').replace('pods', '').replace('scope="resource"', 'scope=""');
    expect(text).toContain(`apiserver_request_total{${rest},dry_run="",code="200"} 100`);
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
    }
    const end = metrics.startLongRunning(gone);
    await metrics.forgetUnserved(isServed);
    const widgets = (text: string): string[] => text.split('\n').filter((line) => line.includes('widgets'));
    expect(widgets(await registry.metrics())).toEqual([expect.stringMatching(/^apiserver_longrunning_requests.* 1$/)]);
    end();
    await metrics.forgetUnserved(isServed);
    const text = await registry.metrics();
    expect(widgets(text)).toEqual([]);
    expect(text).toContain(`apiserver_request_total{${LABELS},dry_run="",code="200"} 1`);
    expect(text).toContain('apiserver_watch_events_total{group="",version="v1",resource="pods"} 1');
  });

  it('lets two servers live in one process', () => {
    expect(() => [new RequestMetrics(new Registry()), new RequestMetrics(new Registry())]).not.toThrow();
  });
});
