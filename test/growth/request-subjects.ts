import { ADMISSION } from './requests/admission';
import { DEFINITIONS } from './requests/definitions';
import { ESCALATION } from './requests/escalation';
import { HEADERS } from './requests/headers';
import { OBJECTS } from './requests/objects';
import { REVIEWS } from './requests/reviews';
import type { RequestSubject } from './requests/request-subject';

export type { RequestSubject };

/** By what grows in them. */
export const REQUESTS: Readonly<Record<string, RequestSubject>> = {
  ...HEADERS,
  ...REVIEWS,
  ...ESCALATION,
  ...ADMISSION,
  ...OBJECTS,
  ...DEFINITIONS,
};
