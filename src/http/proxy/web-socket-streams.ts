import type { IncomingMessage } from 'node:http';
import { StatusError } from '../../api/errors/status-error';
import { askBackend, type BackendOutcome } from '../../kubelet/ask-backend';
import { hostPortOf, type Backend } from '../../kubelet/backend';
import { BackendFailure } from '../../kubelet/backend-failure';
import { acceptWebSocket, offeredProtocols, type AcceptedWebSocket } from '../../streams/accept-web-socket';
import { greet, refuseCommand, RemoteCommand, SPDY_PROTOCOLS, type WantedStreams } from '../../streams/remote-command';
import { tunnel } from '../../streams/web-socket-tunnel';
import type { RequestContext } from '../request/context';
import type { ApiResponse } from '../response/api-response';
import { passRefusal, upgradeOf, type UpgradeDependencies } from './pass-upgrade';
import { firstText, lastAsStream } from './relay-body';

/** The protocol of exec and attach whose clients can end their input. Kubelets do not speak it over WebSocket. */
const REMOTE_COMMAND = 'v5.channel.k8s.io';
/** The bytes of SPDY in binary messages. */
const TUNNELS = 'SPDY/3.1+';
/** What is read of a kubelet's refusal. */
const MAX_REFUSAL_BYTES = 10_000;

const STREAMED: ApiResponse = { type: 'streamed' };

/** What a client over WebSocket asks of a kubelet that is to be asked over SPDY. */
export interface SpdyTarget {
  readonly backend: Backend;
  readonly path: string;
}

function protocolsOf({ request }: RequestContext): readonly string[] {
  if (request.headers.upgrade?.toLowerCase() !== 'websocket') return [];
  return offeredProtocols(request.headers['sec-websocket-protocol']);
}

export function wantsRemoteCommand(context: RequestContext): boolean {
  return protocolsOf(context).includes(REMOTE_COMMAND);
}

/** The subprotocol of a client that wants its SPDY carried. */
export function tunnelProtocol(context: RequestContext): string | undefined {
  return protocolsOf(context).find((protocol) => protocol.startsWith(TUNNELS));
}

/** The client is connected first, and told over WebSocket what goes wrong from then on. */
export async function translateRemoteCommand(
  context: RequestContext,
  target: SpdyTarget,
  wanted: WantedStreams,
  { backends, closing }: UpgradeDependencies,
): Promise<ApiResponse> {
  const client = accept(context, REMOTE_COMMAND);
  if (client === undefined) return STREAMED;
  greet(client, wanted);
  try {
    const response = await askForSpdy(context, target, SPDY_PROTOCOLS, backends);
    if (response.type === 'upgraded' && response.message.statusCode === 101) {
      if (context.finished) response.socket.destroy();
      else {
        const protocol = String(response.message.headers['x-stream-protocol-version'] ?? '').split(',')[0]!;
        const command = new RemoteCommand(client, response.socket, protocol, wanted);
        command.start(response.head);
        lastAsStream(closing, context, () => command.close());
      }
    } else {
      const text = await firstText(response.message, MAX_REFUSAL_BYTES);
      refuseCommand(client, `unable to upgrade connection: ${text}`);
    }
  } catch (error) {
    refuseCommand(
      client,
      error instanceof BackendFailure ? `error dialing backend: ${error.message}` : 'the connection failed',
    );
    if (!(error instanceof BackendFailure)) throw error;
  }
  return STREAMED;
}

/** The client is connected when the kubelet is; until then it is answered over HTTP. */
export async function tunnelSpdy(
  context: RequestContext,
  target: SpdyTarget,
  protocol: string,
  { backends, closing }: UpgradeDependencies,
): Promise<ApiResponse> {
  const response = await askForSpdy(context, target, [protocol.slice(TUNNELS.length)], backends).catch(
    (error: unknown) => {
      throw error instanceof BackendFailure
        ? new StatusError(500, undefined, `error dialing backend: ${error.message}`)
        : error;
    },
  );
  const code = response.message.statusCode ?? 0;
  if (response.type !== 'upgraded' || code !== 101) {
    if (code >= 400) await passRefusal(context, response.message);
    else {
      response.message.destroy();
      throw new StatusError(500, undefined, `invalid upgrade response: status code ${code}`);
    }
    return STREAMED;
  }
  const client = context.finished ? undefined : accept(context, protocol);
  if (client === undefined) response.socket.destroy();
  else lastAsStream(closing, context, tunnel(client, response.socket, response.head));
  return STREAMED;
}

function accept(context: RequestContext, protocol: string): AcceptedWebSocket | undefined {
  const { socket, head } = upgradeOf(context).take();
  context.statusCode = 101;
  // Over HTTP/1.1, the only one with upgrades, it is one.
  return acceptWebSocket(context.request as unknown as IncomingMessage, socket, head, protocol, context.memory);
}

function askForSpdy(
  { signal }: RequestContext,
  { backend, path }: SpdyTarget,
  protocols: readonly string[],
  backends: UpgradeDependencies['backends'],
): Promise<BackendOutcome> {
  const headers = {
    host: hostPortOf(backend),
    connection: 'Upgrade',
    upgrade: 'SPDY/3.1',
    'x-stream-protocol-version': [...protocols],
  };
  return askBackend(backends, backend, { method: 'POST', path, headers, ownConnection: true }, signal);
}
