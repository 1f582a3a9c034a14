import type { IncomingMessage } from 'node:http';
import { MERGE, TABLE, servedOverHttp } from '../../test/support/served-over-http';

const { open, send } = servedOverHttp();

interface Event {
  readonly type: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- objects are looked into freely
  readonly object: any;
}

const parseEvent = (line: string): Event => JSON.parse(line) as Event;

/** Reads lines of a stream until there are enough. */
async function events(response: IncomingMessage, count: number): Promise<readonly Event[]> {
  let text = '';
  for await (const piece of response) {
    text += String(piece);
    const lines = text.split('\n');
    if (lines.length > count) {
      response.destroy();
      return lines.slice(0, count).map(parseEvent);
    }
  }
  return text.split('\n').filter(Boolean).map(parseEvent);
}

describe('a watch', () => {
  const path = '/api/v1/namespaces/w/configmaps';

  it('begins with what is there and goes on with what happens', async () => {
    await send('POST', path, { body: { metadata: { name: 'w1' } } });
    const stream = await open('GET', `${path}?watch=1`);
    expect(stream.headers['transfer-encoding']).toBe('chunked');
    const seen = events(stream, 3);
    await send('PATCH', `${path}/w1`, { body: { data: { k: 'v' } }, headers: MERGE });
    await send('DELETE', `${path}/w1`);
    expect((await seen).map(({ type, object }) => `${type} ${object.kind} ${object.metadata.name}`)).toEqual([
      'ADDED ConfigMap w1',
      'MODIFIED ConfigMap w1',
      'DELETED ConfigMap w1',
    ]);
  });

  it('names the columns of a Table once', async () => {
    const stream = await open('GET', `${path}?watch=1&includeObject=None`, { headers: TABLE });
    const seen = events(stream, 2);
    await send('POST', path, { body: { metadata: { name: 'w2' } } });
    await send('DELETE', `${path}/w2`);
    const [first, second] = await seen;
    expect(first?.object).toMatchObject({ kind: 'Table', rows: [{ object: null }] });
    expect(Array.isArray(first?.object.columnDefinitions)).toBe(true);
    expect(second?.object.columnDefinitions).toBeNull();
  });

  it('looks at what rows shall include for Tables only', async () => {
    const query = `${path}?watch=1&timeoutSeconds=1&includeObject=nonsense`;
    expect(await send('GET', query)).toMatchObject({ status: 200 });
    expect(await send('GET', query, { headers: TABLE })).toMatchObject({ status: 400 });
  });

  it('ends after its time', async () => {
    expect(await send('GET', `${path}?watch=1&timeoutSeconds=1`)).toMatchObject({ status: 200, text: '' });
  });

  const long = '/api/v1/namespaces/long/configmaps';
  it.each(['2147484', '9223372036854775807', '0'])('does not end at once with timeoutSeconds=%s', async (seconds) => {
    const timers = jest.spyOn(globalThis, 'setTimeout');
    const response = await open('GET', `${long}?watch=1&timeoutSeconds=${seconds}`);
    const waits = timers.mock.calls.map(([, milliseconds]) => milliseconds ?? 0);
    timers.mockRestore();
    const ended = jest.fn();
    response.on('end', ended).resume();
    await send('POST', long, { body: { metadata: { name: `during-${seconds}` } } });
    expect(ended).not.toHaveBeenCalled();
    expect(Math.max(...waits)).toBeGreaterThan(1_000_000);
    expect(Math.max(...waits)).toBeLessThan(2 ** 31);
    response.destroy();
  });

  it('takes no YAML', async () => {
    const answer = await send('GET', `${path}?watch=1`, { headers: { accept: 'application/yaml' } });
    expect(answer.status).toBe(406);
    expect(answer.headers['content-type']).toBe('application/yaml');
  });

  it('streams the initial state up to a bookmark for those who ask', async () => {
    await send('POST', path, { body: { metadata: { name: 'w3' } } });
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const seen = await events(await open('GET', `${path}?${query}`), 2);
    expect(seen.map(({ type }) => type)).toEqual(['ADDED', 'BOOKMARK']);
    expect(seen[1]?.object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
  });
});
