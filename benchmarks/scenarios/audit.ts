import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { get } from './read';
import type { Scenario } from './scenario';

/** What the audit log costs a GET: each level on a process of its own, in the mode that is the default (blocking). */
export interface AuditScenario {
  readonly level: string;
  readonly scenario: Scenario;
}

export const scenarios: readonly AuditScenario[] = [
  ['Metadata', 'audit-metadata'] as const,
  ['RequestResponse', 'audit-bodies'] as const,
].map(([level, id]) => ({
  level,
  scenario: get(id, `GET resourceVersion=0, 16 clients, audit at ${level}`, '?resourceVersion=0'),
}));

/** The flags of a server that records every request at this level. */
export function auditFlags(folder: string, level: string): readonly string[] {
  const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', omitStages: ['RequestReceived'], rules: [{ level }] };
  const file = join(folder, `audit-${level}.json`);
  writeFileSync(file, JSON.stringify(policy));
  const log = join(folder, `audit-${level}.log`);
  return [
    '--audit-policy-file',
    file,
    '--audit-log-path',
    log,
    '--audit-log-maxsize',
    '100',
    '--audit-log-maxbackup',
    '1',
  ];
}
