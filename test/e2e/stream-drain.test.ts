import { connect } from 'node:tls';
import { StreamingCluster } from '../support/streaming-cluster';
import { until } from '../support/until';

it('ends upgraded streams of every kind and followed logs when the server goes down, on both sides', async () => {
  const cluster = await StreamingCluster.start({
    writeLog: (response) => void response.write('line\n'),
  });
  const { url, token } = cluster.server;
  const upgrade = 'Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n';
  const webSocket = (protocol: string): string =>
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
    `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\nSec-WebSocket-Protocol: ${protocol}\r\n`;
  const open = (line: string, headers: string): Promise<{ readonly closed: Promise<void> }> =>
    new Promise((opened) => {
      const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), rejectUnauthorized: false }, () =>
        socket.write(`${line} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n${headers}\r\n`),
      );
      const closed = new Promise<void>((resolve) => socket.on('error', () => undefined).on('close', () => resolve()));
      socket.on('data', () => opened({ closed }));
    });
  const pod = '/api/v1/namespaces/ns/pods/pod';
  const ended = await Promise.all([
    open(`POST ${pod}/exec?command=sleep&stdout=true`, upgrade),
    open(`POST ${pod}/attach?stdout=true`, upgrade),
    open(`POST ${pod}/portforward`, upgrade),
    open(`GET ${pod}/exec?command=sleep&stdout=true`, webSocket('v4.channel.k8s.io')),
    open(`GET ${pod}/exec?command=sleep&stdout=true`, webSocket('v5.channel.k8s.io')),
    open(`GET ${pod}/attach?stdout=true`, webSocket('v5.channel.k8s.io')),
    open(`GET ${pod}/portforward`, webSocket('SPDY/3.1+portforward.k8s.io')),
    open(`GET ${pod}/log?follow=true`, ''),
  ]);
  // A client of `v5.channel.k8s.io` hears of its own connection first.
  await until(
    () => Promise.resolve(cluster.kubelet.openConnections),
    (open) => open === ended.length,
  );
  cluster.client.close();
  await cluster.server.stop();
  await Promise.all(ended.map(({ closed }) => closed));
  await until(
    () => Promise.resolve(cluster.kubelet.openConnections),
    (open) => open === 0,
  );
  await cluster.stop();
}, 60_000);
