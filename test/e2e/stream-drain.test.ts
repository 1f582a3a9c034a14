import { connect } from 'node:tls';
import { StreamingCluster } from '../support/streaming-cluster';

it('ends streams and followed logs when the server goes down, on both sides', async () => {
  const cluster = await StreamingCluster.start({ writeLog: (response) => void response.write('line\n') });
  const { url, token } = cluster.server;
  const upgrade = 'Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n';
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
    open(`GET ${pod}/log?follow=true`, ''),
  ]);
  expect(cluster.kubelet.openConnections).toBe(2);
  cluster.client.close();
  await cluster.server.stop();
  await Promise.all(ended.map(({ closed }) => closed));
  for (const end = Date.now() + 5_000; cluster.kubelet.openConnections > 0 && Date.now() < end;) {
    await new Promise((done) => setTimeout(done, 10));
  }
  expect(cluster.kubelet.openConnections).toBe(0);
  await cluster.stop();
}, 60_000);
