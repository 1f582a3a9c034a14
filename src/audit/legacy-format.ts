import { quoteGo } from '../api/errors/go-quote';
import type { AuditEvent } from './event';

/** The line of an event in the format `legacy`: one text without bodies and annotations. */
export function legacyLine(event: AuditEvent): string {
  const { user, impersonatedUser, objectRef, responseStatus } = event;
  const namespace = objectRef?.namespace || '<none>';
  const parts = [
    `id=${quoteGo(event.auditID)}`,
    `stage=${quoteGo(event.stage)}`,
    `ip=${quoteGo(event.sourceIPs[0] ?? '<unknown>')}`,
    `method=${quoteGo(event.verb)}`,
    `user=${quoteGo(user?.name || '<none>')}`,
    `groups=${quoteGo(user === undefined || user.groups.length === 0 ? '<none>' : quotedList(user.groups))}`,
    `as=${quoteGo(impersonatedUser?.name ?? '<self>')}`,
    `asgroups=${quoteGo(impersonatedUser === undefined ? '<lookup>' : quotedList(impersonatedUser.groups))}`,
    `namespace=${quoteGo(namespace)}`,
    `uri=${quoteGo(event.requestURI)}`,
    `response="${responseStatus === undefined ? '<deferred>' : responseStatus.code}"`,
  ];
  return `${event.requestReceivedTimestamp} AUDIT: ${parts.join(' ')}\n`;
}

function quotedList(texts: readonly string[]): string {
  return texts.map(quoteGo).join(',');
}
