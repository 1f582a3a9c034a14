import type { AdmissionPlugin } from './plugin';

/** AlwaysAdmit: has no objections. Deprecated since 1.13. */
export const alwaysAdmit: AdmissionPlugin = { name: 'AlwaysAdmit', operations: [] };
