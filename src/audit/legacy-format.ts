import { quoteWhole } from '../api/errors/go-quote';
import type { AuditEvent } from './event';

/** The line of an event in the format `legacy`: one text without bodies and annotations. */
export function legacyLine(event: AuditEvent): string {
  const { user, impersonatedUser, objectRef, responseStatus } = event;
  const namespace = objectRef?.namespace || '<none>';
  const parts = [
    `id=${quoteWhole(event.auditID)}`,
    `stage=${quoteWhole(event.stage)}`,
    `ip=${quoteWhole(event.sourceIPs[0] ?? '<unknown>')}`,
    `method=${quoteWhole(event.verb)}`,
    `user=${quoteWhole(user?.name || '<none>')}`,
    `groups=${quoteWhole(user === undefined || user.groups.length === 0 ? '<none>' : quotedList(user.groups))}`,
    `as=${quoteWhole(impersonatedUser?.name ?? '<self>')}`,
    `asgroups=${quoteWhole(impersonatedUser === undefined ? '<lookup>' : quotedList(impersonatedUser.groups))}`,
    `namespace=${quoteWhole(namespace)}`,
    `uri=${quoteWhole(event.requestURI)}`,
    `response="${responseStatus === undefined ? '<deferred>' : responseStatus.code}"`,
  ];
  return `${event.requestReceivedTimestamp} AUDIT: ${parts.join(' ')}\n`;
}

function quotedList(texts: readonly string[]): string {
  return texts.map(quoteWhole).join(',');
}
