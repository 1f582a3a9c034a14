/** Where an admission or conversion webhook is reached. */
export interface WebhookTarget {
  /** `https://host[:port]/path`; absent: a service. */
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly port: number;
    /** Empty, or beginning with a slash. */
    readonly path: string;
  };
  /** PEM; empty: the system's authorities. */
  readonly certificateAuthority: string;
}

/** `clientConfig`, as configurations of webhooks and definitions have it. */
export interface WebhookClientConfig {
  readonly url?: string | null;
  readonly service?: {
    readonly namespace?: string;
    readonly name?: string;
    readonly path?: string | null;
    readonly port?: number | null;
  } | null;
  /** PEM in base64. */
  readonly caBundle?: string | null;
}

const DEFAULT_PORT = 443;

/** A service where it has both. */
export function webhookTarget({ url, service, caBundle }: WebhookClientConfig): WebhookTarget {
  const certificateAuthority = caBundle ? Buffer.from(caBundle, 'base64').toString('utf8') : '';
  if (service) {
    const { namespace = '', name = '', port, path } = service;
    return { service: { namespace, name, port: port ?? DEFAULT_PORT, path: path ?? '' }, certificateAuthority };
  }
  return { ...(url ? { url } : {}), certificateAuthority };
}
