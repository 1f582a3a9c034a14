import { GrpcCode, GrpcError } from './grpc-error';
import { StoreFailure } from '../store';

/** What went wrong, as far as a caller may want to tell apart. */
export type EtcdProblem =
  /** Nothing listens there, the connection broke, or TLS failed. */
  | 'unavailable'
  | 'no-leader'
  | 'timeout'
  /** The server's quota is exhausted: it takes no writes until it is compacted, defragmented and disarmed. */
  | 'no-space'
  | 'too-large'
  | 'too-many-requests'
  | 'denied'
  | 'lease-not-found'
  | 'compacted'
  | 'future'
  | 'other';

/** What clients are told: etcd's own words, which kube-apiserver hands on too, where it has any. */
const publicMessages: Readonly<Record<EtcdProblem, string>> = {
  unavailable: 'etcdserver: unavailable',
  'no-leader': 'etcdserver: no leader',
  timeout: 'etcdserver: request timed out',
  'no-space': 'etcdserver: mvcc: database space exceeded',
  'too-large': 'etcdserver: request is too large',
  'too-many-requests': 'etcdserver: too many requests',
  denied: 'etcdserver: permission denied',
  'lease-not-found': 'etcdserver: requested lease not found',
  compacted: 'etcdserver: mvcc: required revision has been compacted',
  future: 'etcdserver: mvcc: required revision is a future revision',
  other: 'etcdserver: the call failed',
};

/** What another server, or a moment later the same one, may do better. */
const transientProblems: ReadonlySet<EtcdProblem> = new Set(['unavailable', 'no-leader', 'too-many-requests']);

/** A call to etcd failed. */
export class EtcdError extends StoreFailure {
  constructor(
    readonly problem: EtcdProblem,
    endpoint: string,
    explanation: string,
    /** True when the server has certainly not seen the call. */
    readonly isUnsent: boolean,
    options?: ErrorOptions,
  ) {
    super(`etcd ${endpoint}: ${explanation}`, publicMessages[problem], {
      ...options,
      isOutOfSpace: problem === 'no-space',
    });
    this.name = 'EtcdError';
  }

  /** Whether it is worth another attempt. */
  get isTransient(): boolean {
    return transientProblems.has(this.problem);
  }
}

/** Fragments of etcd's own messages, which are part of its protocol: Go clients tell errors apart by them too. */
const messages: readonly (readonly [fragment: string, problem: EtcdProblem])[] = [
  ['required revision has been compacted', 'compacted'],
  ['required revision is a future revision', 'future'],
  ['database space exceeded', 'no-space'],
  ['no leader', 'no-leader'],
  ['leader changed', 'no-leader'],
  ['request timed out', 'timeout'],
  ['request is too large', 'too-large'],
  ['too many requests', 'too-many-requests'],
  ['requested lease not found', 'lease-not-found'],
  ['permission denied', 'denied'],
];

const explanations: Partial<Record<EtcdProblem, string>> = {
  'no-space': 'its space quota is exhausted, it takes no writes until it has been compacted and defragmented',
  'no-leader': 'its cluster has no leader',
};

/** Names the problem behind a failed call (or, for watches, a cancel reason as an error's message). */
export function toEtcdError(error: unknown, endpoint: string): EtcdError {
  if (error instanceof EtcdError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const problem = messages.find(([fragment]) => message.includes(fragment))?.[1] ?? problemOf(error);
  const explanation = explanations[problem];
  const isUnsent = error instanceof GrpcError && error.isUnsent;
  return new EtcdError(
    problem,
    endpoint,
    explanation === undefined ? message : `${explanation} (${message})`,
    isUnsent,
    {
      cause: error,
    },
  );
}

function problemOf(error: unknown): EtcdProblem {
  switch (error instanceof GrpcError ? error.code : undefined) {
    case GrpcCode.unavailable:
      return 'unavailable';
    case GrpcCode.deadlineExceeded:
      return 'timeout';
    case GrpcCode.permissionDenied:
    case GrpcCode.unauthenticated:
      return 'denied';
    default:
      return 'other';
  }
}
