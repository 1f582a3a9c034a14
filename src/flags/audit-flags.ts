import { AUDIT_MODES, type AuditMode } from '../audit/backend';
import { LOG_FORMATS, type LogFormat } from '../audit/log-backend';
import type { AuditOptions, BackendOptions } from '../apiserver/audit';
import type { FlagTable, OptionsOf } from './flag-table';

const section = 'Audit';

/** The flags about what is recorded of requests, and where. */
export const auditFlags = {
  'audit-policy-file': {
    type: 'string',
    section,
    help: 'Policy (audit.k8s.io/v1) that says which requests are recorded, and how much of them. Absent: none.',
  },
  'audit-log-path': {
    type: 'string',
    section,
    help: 'File that gets a line for each event; -: standard output.',
  },
  'audit-log-format': {
    type: 'string',
    section,
    default: 'json',
    help: 'json: an object a line. legacy: a text a line, without bodies.',
  },
  'audit-log-maxage': { type: 'int', section, help: 'Days that old files are kept; 0: for good.' },
  'audit-log-maxbackup': { type: 'int', section, help: 'Old files that are kept; 0: all.' },
  'audit-log-maxsize': {
    type: 'int',
    section,
    help: 'Megabytes of a file from which on a new one is begun; 0: 100.',
  },
  'audit-log-compress': { type: 'bool', section, help: 'Compress old files with gzip.' },
  'audit-log-mode': {
    type: 'string',
    section,
    default: 'blocking',
    help: 'batch: no request waits for the file. blocking: requests wait. blocking-strict: and fail with 500 where their first event cannot be kept.',
  },
  'audit-log-batch-buffer-size': {
    type: 'int',
    section,
    default: '10000',
    help: 'Events that may wait in mode batch; more are dropped and counted.',
  },
  'audit-log-batch-max-size': {
    type: 'int',
    section,
    default: '1',
    help: 'Events in mode batch that are written without waiting for more; all that wait are written together.',
  },
  'audit-log-batch-max-wait': {
    type: 'duration',
    section,
    default: '0s',
    help: 'How long an event waits for others in mode batch.',
  },
  'audit-log-batch-throttle-enable': {
    type: 'bool',
    section,
    default: 'false',
    help: 'Limit the batches a second.',
  },
  'audit-log-batch-throttle-qps': { type: 'float', section, default: '0', help: 'Batches a second in the long run.' },
  'audit-log-batch-throttle-burst': {
    type: 'int',
    section,
    default: '0',
    help: 'Batches that may go at once when there were few before.',
  },
  'audit-log-truncate-enabled': {
    type: 'bool',
    section,
    help: 'Leave the bodies out of events that are too large, and drop those that are so even then.',
  },
  'audit-log-truncate-max-event-size': {
    type: 'int',
    section,
    default: '102400',
    help: 'Bytes of an event from which on it is too large.',
  },
  'audit-log-truncate-max-batch-size': {
    type: 'int',
    section,
    default: '10485760',
    help: 'Bytes of a batch from which on it is cut.',
  },
  'audit-log-version': {
    type: 'string',
    section,
    default: 'audit.k8s.io/v1',
    help: 'Version of the events; there is only audit.k8s.io/v1.',
  },
  'audit-webhook-mode': {
    type: 'string',
    section,
    default: 'batch',
    help: 'batch: no request waits for the webhook. blocking: requests wait. blocking-strict: and fail with 500 where their first event cannot be kept.',
  },
  'audit-webhook-batch-buffer-size': {
    type: 'int',
    section,
    default: '10000',
    help: 'Events that may wait in mode batch; more are dropped and counted.',
  },
  'audit-webhook-batch-max-size': {
    type: 'int',
    section,
    default: '400',
    help: 'Events in mode batch that are sent without waiting for more; the most in one list.',
  },
  'audit-webhook-batch-max-wait': {
    type: 'duration',
    section,
    default: '30s',
    help: 'How long an event waits for others in mode batch.',
  },
  'audit-webhook-batch-throttle-enable': {
    type: 'bool',
    section,
    default: 'true',
    help: 'Limit the batches a second.',
  },
  'audit-webhook-batch-throttle-qps': {
    type: 'float',
    section,
    default: '10',
    help: 'Batches a second in the long run.',
  },
  'audit-webhook-batch-throttle-burst': {
    type: 'int',
    section,
    default: '15',
    help: 'Batches that may go at once when there were few before.',
  },
  'audit-webhook-truncate-enabled': {
    type: 'bool',
    section,
    help: 'Leave the bodies out of events that are too large, and drop those that are so even then.',
  },
  'audit-webhook-truncate-max-event-size': {
    type: 'int',
    section,
    default: '102400',
    help: 'Bytes of an event from which on it is too large.',
  },
  'audit-webhook-truncate-max-batch-size': {
    type: 'int',
    section,
    default: '10485760',
    help: 'Bytes of a batch from which on it is cut.',
  },
  'audit-webhook-version': {
    type: 'string',
    section,
    default: 'audit.k8s.io/v1',
    help: 'Version of the events; there is only audit.k8s.io/v1.',
  },
  'audit-webhook-config-file': {
    type: 'string',
    section,
    help: 'Kubeconfig of the server that gets the events. Read again when it changes.',
  },
  'audit-webhook-initial-backoff': {
    type: 'duration',
    section,
    default: '10s',
    help: 'How long to wait before a failed batch is sent again; later tries wait longer.',
  },
  'audit-webhook-batch-initial-backoff': {
    type: 'duration',
    section,
    help: 'Deprecated: use --audit-webhook-initial-backoff.',
  },
} as const satisfies FlagTable;

export type AuditFlags = OptionsOf<typeof auditFlags>;

const VERSION = 'audit.k8s.io/v1';
/** Bytes of a file where no flag says how many. */
const DEFAULT_MEGABYTES = 100;
const MEGABYTE = 1024 * 1024;
/** The longest wait where a flag says that there is no end. */
const LONGEST_QUEUE = 1_000_000;

function isMode(text: string): text is AuditMode {
  return AUDIT_MODES.some((mode) => mode === text);
}

function isFormat(text: string): text is LogFormat {
  return LOG_FORMATS.some((format) => format === text);
}

/** The flags of one backend, without its name. */
interface BackendFlags {
  readonly mode: string;
  readonly version: string;
  readonly bufferSize: number;
  readonly maxSize: number;
  readonly maxWait: number;
  readonly throttle: boolean;
  readonly qps: number;
  readonly burst: number;
  readonly truncates: boolean;
  readonly maxEventSize: number;
  readonly maxBatchSize: number;
}

function backendFlags(flags: AuditFlags, name: 'Log' | 'Webhook'): BackendFlags {
  return {
    mode: flags[`audit${name}Mode`],
    version: flags[`audit${name}Version`],
    bufferSize: flags[`audit${name}BatchBufferSize`],
    maxSize: flags[`audit${name}BatchMaxSize`],
    maxWait: flags[`audit${name}BatchMaxWait`],
    throttle: flags[`audit${name}BatchThrottleEnable`],
    qps: flags[`audit${name}BatchThrottleQps`],
    burst: flags[`audit${name}BatchThrottleBurst`],
    truncates: flags[`audit${name}TruncateEnabled`],
    maxEventSize: flags[`audit${name}TruncateMaxEventSize`],
    maxBatchSize: flags[`audit${name}TruncateMaxBatchSize`],
  };
}

function backendProblems(name: 'log' | 'webhook', flags: BackendFlags): readonly string[] {
  const { mode, version, bufferSize, maxSize, throttle, qps, burst, truncates, maxEventSize, maxBatchSize } = flags;
  const problems: string[] = [];
  const refuse = (flag: string, problem: string): void => void problems.push(`--audit-${name}-${flag} ${problem}`);
  if (!isMode(mode)) refuse('mode', `${JSON.stringify(mode)} is not one of ${AUDIT_MODES.join(', ')}`);
  if (version !== VERSION) refuse('version', `${JSON.stringify(version)} is not ${VERSION}`);
  if (mode === 'batch') {
    if (bufferSize < 1 || bufferSize > LONGEST_QUEUE) refuse('batch-buffer-size', `must be 1 to ${LONGEST_QUEUE}`);
    if (maxSize < 1) refuse('batch-max-size', 'must be at least 1');
    if (throttle && qps <= 0) refuse('batch-throttle-qps', 'must be more than 0');
    if (throttle && burst < 1) refuse('batch-throttle-burst', 'must be at least 1');
  }
  if (truncates) {
    if (maxEventSize < 1) refuse('truncate-max-event-size', 'must be at least 1');
    if (maxBatchSize < maxEventSize) {
      refuse('truncate-max-batch-size', `must not be less than --audit-${name}-truncate-max-event-size`);
    }
  }
  return problems;
}

/** What is wrong with the flags, before any file is read. */
export function auditProblems(flags: AuditFlags): readonly string[] {
  const { auditLogPath, auditWebhookConfigFile, auditLogFormat } = flags;
  return [
    ...(auditLogPath === '' ? [] : backendProblems('log', backendFlags(flags, 'Log'))),
    ...(auditWebhookConfigFile === '' ? [] : backendProblems('webhook', backendFlags(flags, 'Webhook'))),
    ...(isFormat(auditLogFormat)
      ? []
      : [`--audit-log-format ${JSON.stringify(auditLogFormat)} is not one of ${LOG_FORMATS.join(', ')}`]),
  ];
}

/** What asks for an audit log and does not get one. */
export function auditWarnings({
  auditPolicyFile,
  auditLogPath,
  auditWebhookConfigFile,
}: AuditFlags): readonly string[] {
  const hasBackend = auditLogPath !== '' || auditWebhookConfigFile !== '';
  if (hasBackend && auditPolicyFile === '') {
    return ['no audit policy file provided (--audit-policy-file), no events will be recorded'];
  }
  return auditPolicyFile !== '' && !hasBackend
    ? ['--audit-policy-file without --audit-log-path and --audit-webhook-config-file: no events will be recorded']
    : [];
}

function optionsOf(flags: BackendFlags): BackendOptions {
  const { mode, bufferSize, maxSize, maxWait, throttle, qps, burst, truncates, maxEventSize, maxBatchSize } = flags;
  return {
    mode: isMode(mode) ? mode : 'blocking',
    batch: { bufferSize, maxBatchSize: maxSize, maxWaitMs: maxWait, ...(throttle ? { throttle: { qps, burst } } : {}) },
    ...(truncates ? { truncation: { maxEventSize, maxBatchSize } } : {}),
  };
}

/** Undefined: nothing is recorded. A policy is read, and has to be right, even when its events go nowhere. */
export function auditFromFlags(flags: AuditFlags): AuditOptions | undefined {
  const { auditPolicyFile: policyFile, auditLogPath: path, auditWebhookConfigFile: configFile } = flags;
  if (policyFile === '') return undefined;
  return {
    policyFile,
    ...(path === ''
      ? {}
      : {
          log: {
            ...optionsOf(backendFlags(flags, 'Log')),
            path,
            format: isFormat(flags.auditLogFormat) ? flags.auditLogFormat : 'json',
            maxBytes: (flags.auditLogMaxsize || DEFAULT_MEGABYTES) * MEGABYTE,
            maxAgeDays: flags.auditLogMaxage,
            maxBackups: flags.auditLogMaxbackup,
            compress: flags.auditLogCompress,
          },
        }),
    ...(configFile === ''
      ? {}
      : {
          webhook: {
            ...optionsOf(backendFlags(flags, 'Webhook')),
            configFile,
            initialBackoffMs: flags.auditWebhookBatchInitialBackoff || flags.auditWebhookInitialBackoff,
          },
        }),
  };
}
