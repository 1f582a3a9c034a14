import type { MaybePromise } from '../api/maybe-promise';
import { allKept, type AuditBackend, type ReportLoss } from './backend';
import { EVENT_HEAD, printEvent, TRUNCATED_ANNOTATION, type AuditEvent } from './event';

/** In bytes of the JSON. */
export interface TruncationLimits {
  readonly maxEventSize: number;
  readonly maxBatchSize: number;
}

function sizeOf(event: AuditEvent): number {
  return EVENT_HEAD.length + Buffer.byteLength(printEvent(event));
}

function withoutBodies(event: AuditEvent): AuditEvent {
  const annotations = new Map([...event.annotations, [TRUNCATED_ANNOTATION, 'true']]);
  return { ...event, requestObject: '', responseObject: '', annotations };
}

/**
 * Takes the bodies out of events that are too large, drops those that are so even then, and cuts batches that are too large
 * as a whole.
 */
export function truncatingBackend(backend: AuditBackend, limits: TruncationLimits, report: ReportLoss): AuditBackend {
  const { maxEventSize, maxBatchSize } = limits;
  return {
    process: (events) => {
      const results: MaybePromise<boolean>[] = [];
      let batch: AuditEvent[] = [];
      let batchSize = 0;
      let lost = 0;
      const flush = (): void => {
        if (batch.length > 0) results.push(backend.process(batch));
        batch = [];
        batchSize = 0;
      };
      for (const whole of events) {
        let event = whole;
        let size = sizeOf(event);
        const hasBodies = event.level === 'Request' || event.level === 'RequestResponse';
        if (size > maxEventSize && hasBodies) size = sizeOf((event = withoutBodies(event)));
        if (size > maxEventSize) {
          lost++;
          continue;
        }
        if (batchSize + size > maxBatchSize) flush();
        batch.push(event);
        batchSize += size;
      }
      flush();
      if (lost > 0) report('truncate', lost, 'event is too large even after truncating');
      return allKept([...results, lost === 0]);
    },
    close: () => backend.close(),
  };
}
