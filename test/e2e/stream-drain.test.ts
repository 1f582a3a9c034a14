import type { IncomingMessage, ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:tls';
import { AggregatedApis, emptyList } from '../support/aggregated-apis';
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

it('ends requests that last over HTTP when the server goes down, begun or not, and gives those nearly done their answer', async () => {
  const left: string[] = [];
  let finish = (): void => undefined;
  const answer = ({ url = '' }: IncomingMessage, response: ServerResponse): void => {
    response.on('close', () => left.push(response.writableFinished ? `${url} whole` : url));
    if (!url.includes('unanswered')) response.write('a piece');
    if (url.includes('nearly-done')) finish = () => void response.end(' and the last');
  };
  const cluster = await StreamingCluster.start({
    onRequest: answer,
    // As a kubelet does while a container is silent: not even a head.
    writeLog: (response) => void response.on('close', () => left.push('log')),
  });
  const apis = new AggregatedApis(cluster.client);
  const remote = '/apis/drain.example.io/v1';
  const port = await apis.backend('drain', (request, response) => {
    if (request.url?.startsWith(`${remote}/`) === true) answer(request, response);
    else response.setHeader('content-type', 'application/json').end(emptyList('drain.example.io'));
  });
  await apis.settled(await apis.register('drain.example.io', port), 'True');

  const { url, token } = cluster.server;
  const get = (path: string): Promise<string> =>
    new Promise((resolve) => {
      const headers = { authorization: `Bearer ${token}` };
      const request = httpsRequest(new URL(path, url), { headers, agent: false, rejectUnauthorized: false });
      request.on('error', () => resolve('broken off'));
      request.on('response', (response) => {
        let text = `${response.statusCode} `;
        response.on('error', () => undefined);
        response.on('data', (piece) => (text += String(piece)));
        response.on('close', () => resolve(response.complete ? text : `${text}...`));
      });
      request.end();
    });
  const node = '/api/v1/nodes/node/proxy';
  const thing = `${remote}/namespaces/ns/things/one/proxy`;
  const answers = [
    `${node}/endless`,
    `${node}/unanswered`,
    `${node}/nearly-done`,
    `${thing}/endless`,
    `${thing}/unanswered`,
    '/api/v1/namespaces/ns/pods/pod/log?follow=true',
  ].map(get);
  await until(
    () => Promise.resolve(cluster.kubelet.requests.length),
    (asked) => asked === 4,
  );
  const stopped = cluster.server.stop();
  finish();
  const down = '503 {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",';
  await expect(Promise.all(answers)).resolves.toEqual([
    '200 a piece...',
    expect.stringContaining(down),
    '200 a piece and the last',
    '200 a piece...',
    expect.stringContaining(down),
    expect.stringContaining(down),
  ]);
  await stopped;
  await until(
    () => Promise.resolve([...left].sort()),
    (all) => all.length === 6,
  );
  expect(left.filter((one) => one.endsWith('whole'))).toEqual(['/nearly-done whole']);
  apis.close();
  await cluster.stop();
  // Of the deadline that ends all other requests, a third.
}, 20_000);
