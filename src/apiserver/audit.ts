import { Auditor } from '../audit/auditor';
import { allBackends, withoutFailures, type AuditBackend, type AuditMode, type ReportLoss } from '../audit/backend';
import { BatchingBackend, type BatchOptions } from '../audit/batching';
import { LogBackend, type LogFormat, type LogOutput } from '../audit/log-backend';
import { LogFile, type LogFileOptions } from '../audit/log-file';
import type { AuditMetrics } from '../audit/metrics';
import { parseAuditPolicy } from '../audit/policy';
import { standardOutput } from '../audit/standard-output';
import { truncatingBackend, type TruncationLimits } from '../audit/truncation';
import { WebhookBackend, type PostEvents } from '../audit/webhook-backend';
import { sendRequest } from '../client/https-request';
import { agentFor } from '../client/peer-tls';
import { followKubeconfig } from '../client/followed-kubeconfig';
import { authorizationHeader, readKubeconfig } from '../client/kubeconfig-file';
import { readNamedText } from '../files/named-file';
import { cacheLimit } from '../memory/memory-limit';
import type { Logger } from '../observability/logger';

export interface BackendOptions {
  readonly mode: AuditMode;
  readonly batch: Pick<BatchOptions, 'bufferSize' | 'maxBatchSize' | 'maxWaitMs' | 'throttle'>;
  readonly truncation?: TruncationLimits;
}

export interface AuditOptions {
  readonly policyFile: string;
  readonly log?: BackendOptions & { readonly format: LogFormat } & Pick<
      LogFileOptions,
      'path' | 'maxBytes' | 'maxAgeDays' | 'maxBackups' | 'compress'
    >;
  readonly webhook?: BackendOptions & { readonly configFile: string; readonly initialBackoffMs: number };
}

/** Characters of the events that may wait for one backend. */
const MAX_WAITING = cacheLimit(64 * 1024 * 1024);
/** Lists that may be on their way at once. */
const WEBHOOK_CONCURRENCY = 10;
/** How long the webhook is given for one, and told so. */
const WEBHOOK_TIMEOUT_MS = 30_000;
/** Losses of one kind are logged this often; the metric counts them all. */
const LOSS_LOG_MS = 10_000;
const STANDARD_OUTPUT = '-';

/** Reads the policy and opens what the events go to. Throws what is wrong with either. Undefined: they go nowhere. */
export function createAuditor(options: AuditOptions, metrics: AuditMetrics, logger: Logger): Auditor | undefined {
  const { policyFile, log, webhook } = options;
  const report = lossReporter(metrics, logger);
  const policy = parseAuditPolicy(readNamedText(policyFile, 'audit-policy-file'), policyFile, (problem) =>
    logger.warn(problem),
  );
  if (log === undefined && webhook === undefined) return undefined;
  const backends: AuditBackend[] = [];
  // First what may fail and holds nothing open.
  if (webhook !== undefined) {
    const { configFile, initialBackoffMs } = webhook;
    const backend = new WebhookBackend({ ...changingPeer(configFile, logger), initialBackoffMs }, report);
    backends.push(inMode(backend, webhook, { concurrency: WEBHOOK_CONCURRENCY, takesAll: false }, report));
  }
  if (log !== undefined) {
    const output = openLog(log, logger);
    const backend = new LogBackend(output, log.format, log.mode, report);
    backends.push(inMode(backend, log, { concurrency: 1, takesAll: true }, report));
  }
  const holdsResponses = webhook !== undefined && webhook.mode !== 'batch';
  return new Auditor(policy, allBackends(backends), metrics, holdsResponses);
}

function openLog(log: NonNullable<AuditOptions['log']>, logger: Logger): LogOutput {
  if (log.path === STANDARD_OUTPUT) return standardOutput();
  return new LogFile({
    ...log,
    now: () => new Date(),
    onFault: (error) => logger.warn({ err: error }, 'old files of the audit log could not be tidied up'),
  });
}

function inMode(
  backend: AuditBackend,
  { mode, batch, truncation }: BackendOptions,
  how: Pick<BatchOptions, 'concurrency' | 'takesAll'>,
  report: ReportLoss,
): AuditBackend {
  const truncating = truncation === undefined ? backend : truncatingBackend(backend, truncation, report);
  switch (mode) {
    case 'batch':
      return new BatchingBackend(truncating, { ...batch, ...how, maxWaiting: MAX_WAITING }, report);
    case 'blocking':
      return withoutFailures(truncating);
    case 'blocking-strict':
      return truncating;
  }
}

interface Peer {
  readonly post: PostEvents;
  readonly close: () => void;
}

function changingPeer(configFile: string, logger: Logger): Peer {
  const { current, close } = followKubeconfig(configFile, () => webhookPeer(configFile), logger);
  return { post: (body) => current().post(body), close };
}

function webhookPeer(configFile: string): Peer {
  const peer = readKubeconfig(configFile);
  const target = new URL(peer.url);
  target.searchParams.set('timeout', `${WEBHOOK_TIMEOUT_MS / 1000}s`);
  const agent = agentFor(peer.tls);
  const authorization = authorizationHeader(peer);
  const headers = {
    Accept: 'application/json, */*',
    'Content-Type': 'application/json',
    ...(authorization === undefined ? {} : { Authorization: authorization }),
  };
  const url = target.href;
  return {
    post: (body) => sendRequest({ url, method: 'POST', headers, body, agent, timeoutMs: WEBHOOK_TIMEOUT_MS }),
    close: () => agent.destroy(),
  };
}

function lossReporter(metrics: AuditMetrics, logger: Logger): ReportLoss {
  const lastLogged = new Map<string, number>();
  return (plugin, events, reason) => {
    metrics.recordLoss(plugin, events);
    const now = performance.now();
    if (now - (lastLogged.get(plugin) ?? -Infinity) < LOSS_LOG_MS) return;
    lastLogged.set(plugin, now);
    logger.error({ plugin, events, reason }, 'audit events were lost');
  };
}
