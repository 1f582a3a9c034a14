import type { AuditEvent } from './event';

export function auditEvent(fields: Partial<AuditEvent> = {}): AuditEvent {
  return {
    level: 'Metadata',
    auditID: 'id-1',
    stage: 'ResponseComplete',
    requestURI: '/api/v1/namespaces/default/configmaps/a',
    verb: 'get',
    user: { name: 'alice', uid: 'alice-uid', groups: ['dev'] },
    impersonatedUser: undefined,
    sourceIPs: ['192.0.2.1'],
    userAgent: 'test/1.0',
    objectRef: {
      resource: 'configmaps',
      namespace: 'default',
      name: 'a',
      uid: '',
      apiGroup: '',
      apiVersion: 'v1',
      resourceVersion: '',
      subresource: '',
    },
    responseStatus: { code: 200 },
    requestObject: '',
    responseObject: '',
    requestReceivedTimestamp: '2024-03-01T10:20:30.000001Z',
    stageTimestamp: '2024-03-01T10:20:30.000002Z',
    annotations: new Map(),
    ...fields,
  };
}
