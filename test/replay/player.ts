import type { Step } from './scenarios';

/** What a server answered, without what differs between two servers and two runs. */
export interface Exchange {
  readonly request: string;
  readonly status: number;
  readonly body: unknown;
}

export interface Response {
  readonly status: number;
  readonly text: string;
}

/** Sends one request as somebody who may do everything. `body` is JSON. */
export type Send = (step: Omit<Step, 'body'> & { readonly body?: string }) => Promise<Response>;

const SERVICE_ACCOUNT = { metadata: { name: 'default' }, automountServiceAccountToken: false };

/** Plays a scenario in a namespace of its own, which is made first. */
export async function play(send: Send, name: string, steps: readonly Step[]): Promise<readonly Exchange[]> {
  const namespace = `replay-${name}-${Math.random().toString(36).slice(2, 8)}`;
  const sendJson = (method: string, path: string, body: object): Promise<Response> =>
    send({ method, path, body: JSON.stringify(body) });
  await sendJson('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  await sendJson('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, SERVICE_ACCOUNT);
  const filled = (text: string): string => text.replaceAll('${ns}', namespace);
  const exchanges: Exchange[] = [];
  for (const { body, path, ...step } of steps) {
    const request = {
      ...step,
      path: filled(path),
      ...(body === undefined ? {} : { body: filled(JSON.stringify(body)) }),
    };
    const { status, text } = await send(request);
    exchanges.push({ request: `${step.method} ${path}`, status, body: normalized(text, namespace) });
  }
  await send({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}` });
  return exchanges;
}

/** Members whose value is the server's own, by their names. */
const OWN_VALUES: Readonly<Record<string, string>> = {
  uid: '<uid>',
  resourceVersion: '<version>',
  continue: '<token>',
  'controller-uid': '<uid>',
};

function withoutAge(cell: unknown): unknown {
  return typeof cell === 'string' && /^\d+s$/.test(cell) ? '<age>' : cell;
}

function normalized(text: string, namespace: string): unknown {
  const plain = text
    .replaceAll(namespace, '${ns}')
    .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>')
    .replaceAll(/\bg_[a-z0-9]{5}\b/g, 'g_<suffix>')
    .replaceAll(/\b10\.0\.0\.\d+/g, '<address>');
  try {
    return JSON.parse(plain, (key, value: unknown) => {
      // Of columns: each server has words of its own.
      if (key === 'description') return undefined;
      // A row tells its object's age, in seconds at the time that it was asked for.
      if (key === 'cells') return (value as readonly unknown[]).map(withoutAge);
      const own = OWN_VALUES[key];
      return own !== undefined && typeof value === 'string' && value !== '' ? own : value;
    });
  } catch {
    return plain;
  }
}
