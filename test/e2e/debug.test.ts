import { request } from 'node:https';
import { startApiServer, type ApiServer } from '../../src';

interface Response {
  readonly code: number;
  readonly text: string;
}

describe('the paths below /debug', () => {
  let server: ApiServer<'alice'>;
  beforeAll(async () => {
    server = await startApiServer({ users: { alice: [] }, controllers: [] });
  });
  afterAll(() => server.stop());

  function ask(method: string, path: string, body = '', token = server.token): Promise<Response> {
    return new Promise((resolve, reject) => {
      const headers = { Authorization: `Bearer ${token}` };
      const options = { method, ca: server.certificateAuthority, headers, agent: false };
      const sent = request(new URL(path, server.url), options, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
        response.on('end', () => resolve({ code: response.statusCode ?? 0, text }));
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  it('give profiles that Chrome reads, one at a time', async () => {
    const first = ask('GET', '/debug/pprof/profile?seconds=1');
    const second = await ask('GET', '/debug/pprof/heap?seconds=1');
    const [one] = [await first, second];
    const outcomes = [one, second].sort((a, b) => a.code - b.code);
    expect(outcomes.map(({ code }) => code)).toEqual([200, 500]);
    expect(outcomes[1]?.text).toMatch(/^Could not enable (CPU|heap) profiling: profiling already in use\n$/);

    const cpu = await ask('GET', '/debug/pprof/profile?seconds=0.2');
    expect(JSON.parse(cpu.text)).toMatchObject({ nodes: expect.any(Array), samples: expect.any(Array) });
    const heap = await ask('GET', '/debug/pprof/heap?seconds=0.1');
    expect(JSON.parse(heap.text)).toMatchObject({ head: { callFrame: expect.anything() } });
  });

  it('take no profile that would last longer than a request may', async () => {
    expect(await ask('GET', '/debug/pprof/profile?seconds=3600')).toMatchObject({ code: 400 });
    expect(await ask('GET', '/debug/pprof/profile?seconds=x')).toMatchObject({ code: 400 });
    expect(await ask('GET', '/debug/pprof/heap?seconds=-1')).toMatchObject({ code: 400 });
  });

  it('are for whom authorization lets', async () => {
    const { token } = server.users.alice;
    for (const path of ['/debug/pprof', '/debug/pprof/profile?seconds=0.1', '/debug/pprof/heap']) {
      expect(await ask('GET', path, '', token)).toMatchObject({ code: 403 });
    }
    expect(await ask('PUT', '/debug/flags/v', '9', token)).toMatchObject({ code: 403 });
  });

  it('change how much is logged', async () => {
    expect(await ask('PUT', '/debug/flags/v', '2')).toEqual({
      code: 200,
      text: 'successfully set logging.verbosity to 2',
    });
    expect(await ask('PUT', '/debug/flags/v', 'much')).toMatchObject({ code: 400 });
    expect(await ask('PUT', '/debug/flags/v', '1'.repeat(200))).toMatchObject({ code: 413 });
    expect(await ask('GET', '/debug/flags/v')).toMatchObject({ code: 406 });
  });

  it('are not there without --profiling', async () => {
    await using other = await startApiServer({ flags: { profiling: false }, controllers: [] });
    const before = server;
    server = other;
    try {
      expect(await ask('GET', '/debug/pprof/')).toMatchObject({ code: 404 });
      expect(await ask('PUT', '/debug/flags/v', '2')).toMatchObject({ code: 404 });
    } finally {
      server = before;
    }
  });
});
