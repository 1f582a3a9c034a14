import type { MaybePromise } from '../api/maybe-promise';
import { runSteps, type Steps } from '../async/steps';
import type { UserInfo } from '../api/user';
import type { AuditBackend } from './backend';
import type { AuditEvent } from './event';
import type { AuditMetrics } from './metrics';
import type { AuditedRequest, AuditPolicy, AuditVerdict } from './policy';

/** The audit log as the filters see it: what is to be recorded, and where it goes. */
export class Auditor {
  private readonly making = new Set<Promise<AuditEvent>>();

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

  /** The same of one that takes steps to be made. */
  async recordLater(steps: Steps<AuditEvent>): Promise<boolean> {
    const making = runSteps(steps, 'audit');
    this.making.add(making);
    try {
      return await this.record(await making);
    } finally {
      this.making.delete(making);
    }
  }

  recordRejection(): void {
    this.metrics.recordRejection();
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.making);
    await this.backend.close();
  }
}
