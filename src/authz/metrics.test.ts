import { Registry } from 'prom-client';
import type { Attributes, Authorization } from './attributes';
import { AuthorizationMetrics, measuredAuthorizer } from './metrics';

it('counts decisions by their result, those of authorizers that could not be asked as errors', async () => {
  const registry = new Registry();
  const metrics = new AuthorizationMetrics(registry);
  const responses: readonly (Authorization | Promise<Authorization>)[] = [
    { decision: 'allow', reason: '' },
    Promise.resolve({ decision: 'allow', reason: '', error: 'the other could not be asked' }),
    { decision: 'deny', reason: '' },
    { decision: 'no-opinion', reason: '', error: 'nobody could be asked' },
    Promise.reject(new Error('broken')),
  ];
  for (const response of responses) {
    const authorize = measuredAuthorizer(() => response, metrics);
    await Promise.resolve(authorize({} as Attributes)).catch(() => undefined);
  }
  const { values } = (await registry.getSingleMetric('authorization_attempts_total')?.get()) ?? { values: [] };
  expect(Object.fromEntries(values.map(({ labels, value }) => [labels['result'], value]))).toEqual({
    allowed: 2,
    denied: 1,
    error: 2,
  });
  expect(await registry.metrics()).toContain('authorization_duration_seconds_count{result="allowed"} 2');
});
