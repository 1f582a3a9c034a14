import { Registry } from 'prom-client';
import { unauthorized } from '../api/errors/status-error';
import type { Credentials } from './credentials';
import { AuthenticationMetrics, measuredAuthentication } from './metrics';

const noCredentials: Credentials = {
  bearerToken: undefined,
  clientCertificate: undefined,
  headers: { names: () => [], values: () => [] },
};

describe('the metrics of authentication', () => {
  const registry = new Registry();
  const metrics = new AuthenticationMetrics(registry);
  const lines = async (name: string): Promise<readonly string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith(name));

  it('count users, most of them together, and how it went', async () => {
    const users = ['admin', 'jane', 'jane@example.com', 'joe'];
    for (const name of users) await measuredAuthentication(async () => ({ name, groups: [] }), metrics)(noCredentials);
    const refuse = measuredAuthentication(async () => {
      throw unauthorized();
    }, metrics);
    await expect(refuse(noCredentials)).rejects.toThrow();
    await expect(refuse({ ...noCredentials, bearerToken: 'stolen' })).rejects.toMatchObject({ status: { code: 401 } });
    expect(await lines('authenticated_user_requests')).toEqual([
      'authenticated_user_requests{username="admin"} 1',
      'authenticated_user_requests{username="other"} 2',
      'authenticated_user_requests{username="email_id"} 1',
    ]);
    expect(await lines('authentication_attempts')).toEqual([
      'authentication_attempts{result="success"} 4',
      'authentication_attempts{result="failure"} 1',
      'authentication_attempts{result="error"} 1',
    ]);
    expect(await lines('authentication_duration_seconds_count')).toContain(
      'authentication_duration_seconds_count{result="success"} 4',
    );
    expect(await registry.metrics()).not.toMatch(/jane|joe|stolen/);
  });

  it('count what the token caches know', async () => {
    metrics.cacheAsked('hit');
    metrics.cacheAsked('miss');
    metrics.cacheFetched('ok');
    expect(await lines('authentication_token_cache_request_total')).toEqual([
      'authentication_token_cache_request_total{status="hit"} 1',
      'authentication_token_cache_request_total{status="miss"} 1',
    ]);
    expect(await lines('authentication_token_cache_fetch_total')).toContain(
      'authentication_token_cache_fetch_total{status="ok"} 1',
    );
  });
});
