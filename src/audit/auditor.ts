import type { MaybePromise } from '../api/maybe-promise';
import type { UserInfo } from '../api/user';
import type { AuditBackend } from './backend';
import type { AuditEvent } from './event';
import type { AuditMetrics } from './metrics';
import type { AuditedRequest, AuditPolicy, AuditVerdict } from './policy';

/** The audit log as the filters see it: what is to be recorded, and where it goes. */
export class Auditor {
  constructor(
    private readonly policy: AuditPolicy,
    private readonly backend: AuditBackend,
    private readonly metrics: AuditMetrics,
    /** A request waits for its last event to be kept before its answer ends: a backend is far away, and blocking. */
    readonly holdsResponses: boolean,
  ) {}

  verdictOn(request: AuditedRequest, user: UserInfo | undefined): AuditVerdict {
    const verdict = this.policy.verdictOn(request, user);
    this.metrics.recordLevel(verdict.level);
    return verdict;
  }

  /** False: it is lost, and the request must not go on as if it were not. */
  record(event: AuditEvent): MaybePromise<boolean> {
    this.metrics.recordEvent();
    return this.backend.process([event]);
  }

  recordRejection(): void {
    this.metrics.recordRejection();
  }

  close(): Promise<void> {
    return this.backend.close();
  }
}
