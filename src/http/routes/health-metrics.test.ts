import { Registry } from 'prom-client';
import { HealthMetrics, runAllChecks } from './health-metrics';

describe('the metrics of health checks', () => {
  it('tell what each check finds when they are read, and how often it found what', async () => {
    const registry = new Registry();
    let isWell = true;
    const etcd = async (): Promise<void> => {
      if (!isWell) throw new Error('gone');
    };
    const ping = { name: 'ping', check: () => undefined };
    const checks = new HealthMetrics(registry).counted({
      livez: [ping],
      readyz: [ping, { name: 'etcd', check: etcd }],
      healthz: [],
    });
    await runAllChecks(checks);
    expect(await registry.metrics()).toContain('kubernetes_healthcheck{name="etcd",type="readyz"} 1');
    isWell = false;
    await runAllChecks(checks);
    const text = await registry.metrics();
    expect(text).toContain('kubernetes_healthcheck{name="etcd",type="readyz"} 0');
    expect(text).toContain('kubernetes_healthcheck{name="ping",type="livez"} 1');
    expect(text).toContain('kubernetes_healthchecks_total{name="etcd",type="readyz",status="success"} 1');
    expect(text).toContain('kubernetes_healthchecks_total{name="etcd",type="readyz",status="error"} 1');
    await expect(checks.readyz[1]?.check()).rejects.toThrow('gone');
  });

  it('change nothing of who may read why a check fails', () => {
    const shutdown = { name: 'shutdown', isPublic: true, check: () => undefined };
    const checks = new HealthMetrics(new Registry()).counted({ livez: [], readyz: [shutdown], healthz: [] });
    expect(checks.readyz[0]).toMatchObject({ name: 'shutdown', isPublic: true });
  });
});
