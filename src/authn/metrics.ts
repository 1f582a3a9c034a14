import { Counter, type Registry } from 'prom-client';
import type { MaybePromise } from '../api/maybe-promise';
import type { UserInfo } from '../api/user';
import { HistogramSeries, SeriesCounter, SeriesHistogram, type CounterSeries } from '../observability/series';
import type { AuthenticateRequest } from './union';

export type AuthenticationOutcome = 'success' | 'failure' | 'error';
/** Out of a secret; bound and good; bound, and used longer than it was asked for. */
export type ServiceAccountTokenUse = 'legacy' | 'valid' | 'stale';

const DURATION_BOUNDS = Array.from({ length: 15 }, (_, power) => 0.001 * 2 ** power);

/** Users of the control plane that are counted under their own name: others would make the series unbounded. */
const COUNTED_USERS = new Set([
  'admin',
  'client',
  'kube_proxy',
  'kubelet',
  'system:serviceaccount:kube-system:default',
]);

/** The metrics of authentication, under kube-apiserver's names. One per server; the registry is passed in. */
export class AuthenticationMetrics {
  readonly #attempts = new Map<AuthenticationOutcome, HistogramSeries>();
  readonly #users = new Map<string, CounterSeries>();
  readonly #cacheRequests = { hit: series('hit'), miss: series('miss') };
  readonly #cacheFetches = { ok: series('ok'), error: series('error') };
  readonly #tokens: Readonly<Record<ServiceAccountTokenUse, Counter>>;

  constructor(registry: Registry) {
    new SeriesCounter({
      name: 'authenticated_user_requests',
      help: 'Requests by whom they were found to come from; all but a few users together.',
      labelNames: ['username'],
      registry,
      series: () => this.#users.values(),
    });
    new SeriesCounter({
      name: 'authentication_attempts',
      help: 'Attempts to find out who asks, by their outcome.',
      labelNames: ['result'],
      registry,
      series: () =>
        [...this.#attempts.values()].map(({ labels, counts }) => ({ labels, value: counts.reduce((a, b) => a + b) })),
    });
    new SeriesHistogram({
      name: 'authentication_duration_seconds',
      help: 'Time that it took to find out who asks.',
      labelNames: ['result'],
      registry,
      bounds: DURATION_BOUNDS,
      series: () => this.#attempts.values(),
    });
    new SeriesCounter({
      name: 'authentication_token_cache_request_total',
      help: 'Tokens that were looked up in a cache.',
      labelNames: ['status'],
      registry,
      series: () => Object.values(this.#cacheRequests),
    });
    new SeriesCounter({
      name: 'authentication_token_cache_fetch_total',
      help: 'Questions about tokens that no cache knew.',
      labelNames: ['status'],
      registry,
      series: () => Object.values(this.#cacheFetches),
    });
    const tokens = (kind: ServiceAccountTokenUse, help: string): Counter =>
      new Counter({ name: `serviceaccount_${kind}_tokens_total`, help, registers: [registry] });
    this.#tokens = {
      legacy: tokens('legacy', 'Tokens of service accounts out of secrets that were used.'),
      valid: tokens('valid', 'Extended tokens of pods that were used within the time that was asked for.'),
      stale: tokens('stale', 'Extended tokens of pods that were used after the time that was asked for.'),
    };
  }

  attempted(outcome: AuthenticationOutcome, seconds: number): void {
    let known = this.#attempts.get(outcome);
    if (known === undefined) {
      this.#attempts.set(outcome, (known = new HistogramSeries({ result: outcome }, DURATION_BOUNDS)));
    }
    known.observe(seconds);
  }

  authenticated(name: string): void {
    const username = COUNTED_USERS.has(name) ? name : name.includes('@') ? 'email_id' : 'other';
    const known = this.#users.get(username);
    if (known === undefined) this.#users.set(username, { labels: { username }, value: 1 });
    else known.value++;
  }

  readonly cacheAsked = (status: 'hit' | 'miss'): void => void this.#cacheRequests[status].value++;
  readonly cacheFetched = (status: 'ok' | 'error'): void => void this.#cacheFetches[status].value++;
  readonly tokenUsed = (use: ServiceAccountTokenUse): void => this.#tokens[use].inc();
}

function series(status: string): CounterSeries {
  return { labels: { status }, value: 0 };
}

/** Counts and times what `authenticate` finds. Credentials that are no good are an error, none at all a failure. */
export function measuredAuthentication(
  authenticate: AuthenticateRequest,
  metrics: AuthenticationMetrics,
): AuthenticateRequest {
  return (credentials, annotate) => {
    const start = performance.now();
    const took = (): number => (performance.now() - start) / 1000;
    const found = (user: UserInfo): UserInfo => {
      metrics.attempted('success', took());
      metrics.authenticated(user.name);
      return user;
    };
    const failed = (error: unknown): never => {
      const { bearerToken, clientCertificate } = credentials;
      metrics.attempted(bearerToken === undefined && clientCertificate === undefined ? 'failure' : 'error', took());
      throw error;
    };
    let user: MaybePromise<UserInfo>;
    try {
      user = authenticate(credentials, annotate);
    } catch (error) {
      return failed(error);
    }
    return user instanceof Promise ? user.then(found, failed) : found(user);
  };
}
