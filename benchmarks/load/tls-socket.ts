import * as tls from 'node:tls';
import type { Protocol, Target } from './job';

/** A TLS connection that speaks `protocol`. Certificates are the server's own: not verified. */
export async function openTls({ host, port }: Target, protocol: Protocol): Promise<tls.TLSSocket> {
  const socket = tls.connect({ host, port, rejectUnauthorized: false, ALPNProtocols: [protocol] });
  await new Promise<void>((resolve, reject) => {
    socket.once('secureConnect', () => resolve());
    socket.once('error', reject);
  });
  if (socket.alpnProtocol !== protocol) throw new Error(`the server does not speak ${protocol}`);
  socket.setNoDelay(true);
  return socket;
}
