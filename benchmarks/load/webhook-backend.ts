/** An admission webhook that says yes to everything, in a process of its own: its parent sends it a key pair and hears its port. */
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: { readonly uid: string };
}

process.once('message', ({ cert, key }: { readonly cert: string; readonly key: string }) => {
  let isCalled = false;
  const server = createServer({ cert, key, keepAliveTimeout: 120_000 }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { apiVersion, kind, request: asked } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Review;
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify({ apiVersion, kind, response: { uid: asked.uid, allowed: true } }));
      if (!isCalled) process.send?.({ called: (isCalled = true) });
    });
  });
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
});
process.once('disconnect', () => process.exit());
