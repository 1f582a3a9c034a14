/** Where a page behind a proxy is, as the target and as the client see it. */
export interface ProxiedPlace {
  /** `host:port` of the target. */
  readonly targetHost: string;
  /** The client's `Host`. */
  readonly clientHost: string;
  /** The path at which the client finds the target's root, without a slash at its end. */
  readonly root: string;
}

/** Scheme, host, path and what follows it. */
const LINK = /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)([^]*)$/i;

/**
 * A link of the target as the client has to follow it: one to the target's own host, or without a host but with a path from its
 * root, leads through the proxy. Any other stays as it is.
 */
export function proxiedLink(link: string, { targetHost, clientHost, root }: ProxiedPlace): string {
  const [, scheme, host = '', path = '', rest = ''] = LINK.exec(link) ?? [];
  const isElsewhere = host === '' ? scheme !== undefined : host !== targetHost && host !== clientHost;
  if (isElsewhere || !path.startsWith('/')) return link;
  const origin = host === clientHost && host !== '' ? `${scheme === undefined ? '' : `${scheme}:`}//${host}` : '';
  return origin + (path.startsWith(root) ? path : root + path) + rest;
}
