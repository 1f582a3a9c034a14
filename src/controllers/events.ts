import { createHash } from 'node:crypto';
import { formatDate } from '../api/time/rfc3339';
import { isStatus, type ControllerRun } from './controller';

export interface ControllerEvent {
  readonly component: string;
  readonly about: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly namespace?: string | undefined;
    readonly name: string;
    readonly uid: string;
  };
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** What is in no namespace has its events there. */
const DEFAULT_NAMESPACE = 'default';

/** Tells users of something, as an Event; once for the same words about the same object. */
export async function recordEvent({ client, signal }: ControllerRun, event: ControllerEvent): Promise<void> {
  const { about, component, type, reason, message } = event;
  const namespace = about.namespace ?? DEFAULT_NAMESPACE;
  const words = createHash('sha256').update(`${about.uid} ${reason} ${message}`).digest('hex').slice(0, 16);
  const now = formatDate(new Date());
  try {
    await client.create(
      `/api/v1/namespaces/${namespace}/events`,
      {
        metadata: { name: `${about.name}.${words}` },
        involvedObject: about,
        type,
        reason,
        message,
        source: { component },
        firstTimestamp: now,
        lastTimestamp: now,
        count: 1,
      },
      signal,
    );
  } catch (error) {
    // It has been told; or its namespace is gone, or going.
    if (!isStatus(error, 403, 404, 409)) throw error;
  }
}
