import { Registry } from 'prom-client';
import { printMetrics } from './metrics-text';
import { WriteMetrics } from './write-metrics';

describe('the metrics of writes', () => {
  it('have the sizes of bodies by resource and verb, and durations by how fields are validated', async () => {
    const registry = new Registry();
    const metrics = new WriteMetrics(registry);
    metrics.recordBody('deployments.apps', 'create', 60_000);
    metrics.recordBody('widgets.example.com', 'patch', 10);
    metrics.recordValidation('Strict', 0.2);
    const text = String(await printMetrics(registry));
    const body = 'apiserver_request_body_size_bytes_bucket{resource="deployments.apps",verb="create"';
    expect(text).toContain(`${body},le="50000"} 0`);
    expect(text).toContain(`${body},le="150000"} 1`);
    expect(text).toContain('field_validation_request_duration_seconds_count{field_validation="Strict"} 1');
    metrics.forgetUnserved((resource) => resource === 'deployments.apps');
    const after = String(await printMetrics(registry));
    expect(after).toContain(body);
    expect(after).not.toContain('widgets');
  });

  it('count by the verb alone beyond so many resources', async () => {
    const registry = new Registry();
    const metrics = new WriteMetrics(registry);
    for (let index = 0; index < 2_010; index++) metrics.recordBody(`r${index}`, 'create', 1);
    const text = String(await printMetrics(registry));
    expect(text).toContain('apiserver_request_body_size_bytes_count{verb="create"} 10');
  });
});
