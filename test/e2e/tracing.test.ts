import { Server, ServerCredentials, type sendUnaryData } from '@grpc/grpc-js';
import { mkdtempSync, rmSync, writeFileSync, readFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, type Type } from 'protobufjs';
import { startApiServer, type ApiServer } from '../../src';
import { until } from '../support/until';
import { adminClient } from '../support/admin-client';

/** The part of OTLP's messages that is looked at. */
const OTLP = `
  syntax = "proto3";
  message Request { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { repeated ScopeSpans scope_spans = 2; }
  message ScopeSpans { repeated Span spans = 2; }
  message Span { bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; }
`;

interface Received {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
}

interface WireSpan {
  readonly name: string;
  readonly traceId: Buffer;
  readonly spanId: Buffer;
  readonly parentSpanId: Buffer;
}

/** A collector that keeps the spans that it gets. */
class Collector {
  readonly spans: Received[] = [];
  readonly #server = new Server();

  async start(): Promise<number> {
    const type: Type = parse(OTLP).root.lookupType('Request');
    this.#server.addService(
      {
        Export: {
          path: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
          requestStream: false,
          responseStream: false,
          requestSerialize: (bytes: Buffer) => bytes,
          requestDeserialize: (bytes: Buffer) => bytes,
          responseSerialize: (bytes: Buffer) => bytes,
          responseDeserialize: (bytes: Buffer) => bytes,
        },
      },
      {
        Export: ({ request: bytes }: { request: Buffer }, done: sendUnaryData<Buffer>) => {
          const { resourceSpans } = type.decode(bytes) as unknown as {
            resourceSpans: readonly { scopeSpans: readonly { spans: readonly WireSpan[] }[] }[];
          };
          for (const { name, traceId, spanId, parentSpanId } of resourceSpans.flatMap(({ scopeSpans }) =>
            scopeSpans.flatMap(({ spans }) => spans),
          )) {
            const hex = (id: Buffer): string => Buffer.from(id).toString('hex');
            this.spans.push({ name, traceId: hex(traceId), spanId: hex(spanId), parentSpanId: hex(parentSpanId) });
          }
          done(null, Buffer.alloc(0));
        },
      },
    );
    return new Promise((resolve, reject) => {
      this.#server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
        error === null ? resolve(port) : reject(error),
      );
    });
  }

  stop(): void {
    this.#server.forceShutdown();
  }
}

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';

describe('the traces of requests', () => {
  const collector = new Collector();
  let folder: string;
  let server: ApiServer;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sternpost-tracing-'));
    const file = join(folder, 'tracing.yaml');
    const endpoint = `127.0.0.1:${await collector.start()}`;
    writeFileSync(
      file,
      `apiVersion: apiserver.config.k8s.io/v1beta1\nkind: TracingConfiguration\nendpoint: ${endpoint}\n`,
    );
    const policy = join(folder, 'policy.yaml');
    writeFileSync(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]\n');
    server = await startApiServer({
      flags: {
        'tracing-config-file': file,
        'audit-policy-file': policy,
        'audit-log-path': join(folder, 'audit.log'),
        'audit-log-mode': 'blocking',
      },
    });
  });
  afterAll(async () => {
    await server.stop();
    collector.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function create(name: string, traceParent: string): Promise<number> {
    const { certificateAuthority: ca, token, url } = server;
    const headers = {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      ...(traceParent === '' ? {} : { traceparent: traceParent }),
    };
    return new Promise((resolve, reject) => {
      const path = '/api/v1/namespaces/default/configmaps';
      const sent = request(new URL(path, url), { ca, headers, method: 'POST', agent: false }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      });
      sent.on('error', reject);
      sent.end(JSON.stringify({ metadata: { name } }));
    });
  }

  it('go on with that of the client, with spans of what was done, to a collector and into the audit log', async () => {
    expect(await create('traced', `00-${TRACE}-${CALLER}-01`)).toBe(201);
    const spans = await until(
      async () => collector.spans.filter(({ traceId }) => traceId === TRACE),
      (found) => found.some(({ parentSpanId }) => parentSpanId === CALLER),
    );
    const root = spans.find(({ parentSpanId }) => parentSpanId === CALLER);
    expect(root?.name).toBe('create configmaps');
    const parentOf = (name: string): string | undefined => {
      const span = spans.find((one) => one.name === name);
      return spans.find(({ spanId }) => spanId === span?.parentSpanId)?.name;
    };
    expect(parentOf('authenticate')).toBe('create configmaps');
    expect(parentOf('authorization')).toBe('create configmaps');
    expect(parentOf('registry create')).toBe('create configmaps');
    expect(parentOf('mutating admission')).toBe('registry create');
    expect(parentOf('validating admission')).toBe('registry create');
    expect(parentOf('etcd create')).toBe('registry create');
    const events = readFileSync(join(folder, 'audit.log'), 'utf8');
    expect(events).toContain(`"sternpost/trace-id":"${TRACE}"`);
  });

  it('are not begun for who does not want to be traced, or does not ask', async () => {
    expect(await create('untraced', `00-${TRACE.replace('4', '5')}-${CALLER}-00`)).toBe(201);
    expect(await create('unasked', '')).toBe(201);
    expect(await create('last', `00-${TRACE.replace('4', '6')}-${CALLER}-01`)).toBe(201);
    await until(
      async () => collector.spans,
      (found) => found.some(({ name, traceId }) => name === 'create configmaps' && traceId.startsWith('6')),
    );
    const created = collector.spans.filter(({ name }) => name === 'create configmaps');
    expect(created.map(({ traceId }) => traceId[0])).toEqual(['4', '6']);
  });

  it('are sent with calls of webhooks', async () => {
    const client = adminClient(server);
    await client.create('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
      metadata: { name: 'absent' },
      webhooks: [
        {
          name: 'absent.example.io',
          clientConfig: { url: 'https://127.0.0.1:1/' },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
          failurePolicy: 'Ignore',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    });
    client.close();
    await until(
      () => create(`called-${Math.random().toString(36).slice(2)}`, `00-${TRACE.replace('4', '7')}-${CALLER}-01`),
      () => collector.spans.some(({ name }) => name === 'webhook absent.example.io'),
    );
  });
});
