/**
 * Whether reports of progress can be trusted: they never run ahead of events from 3.4.31 and 3.5.13 on. Older servers may
 * send one between two events of the past.
 */
export function canReportProgress(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  if (major !== 3) return major > 3;
  if (minor === 4) return patch >= 31;
  if (minor === 5) return patch >= 13;
  return minor > 5;
}
