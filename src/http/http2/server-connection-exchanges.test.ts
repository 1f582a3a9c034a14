import { Flag, FrameType } from '../../http2/frames';
import { encodeHeaders } from '../../http2/hpack';
import { data, frame, headers } from '../../http2/wire.fixture';
import { ask, asked, fieldsOf, greeted, post, PSEUDO, said } from './server-connection.fixture';

describe('a request over HTTP/2', () => {
  it('has method, URL, headers and no body', async () => {
    const { request } = await asked(await greeted(), ask(1, { ':path': '/api?a=b', accept: 'text/plain' }));
    expect(request).toMatchObject({
      httpVersion: '2.0',
      method: 'GET',
      url: '/api?a=b',
      headers: { host: 'host', accept: 'text/plain' },
      readableEnded: true,
    });
  });

  it('has each value of a header by itself as well', async () => {
    const fields = { accept: 'a', 'x-group': ['b', 'c, d'] };
    const { request } = await asked(await greeted(), ask(1, fields));
    expect(request.headers['x-group']).toBe('b, c, d');
    expect(request.headersDistinct).toEqual({ host: ['host'], accept: ['a'], 'x-group': ['b', 'c, d'] });
  });

  it('is read with padding, priority, and in as many frames as it likes', async () => {
    const block = encodeHeaders({ ...PSEUDO, ':path': '/long', accept: 'x'.repeat(30_000) });
    const padded = Buffer.concat([Buffer.from([2, 0, 0, 0, 0, 9]), block.subarray(0, 100), Buffer.alloc(2)]);
    const { request } = await asked(
      await greeted(),
      frame(FrameType.HEADERS, Flag.END_STREAM | Flag.PADDED | Flag.PRIORITY, 1, padded),
      frame(FrameType.CONTINUATION, 0, 1, block.subarray(100, 20_000)),
      frame(FrameType.CONTINUATION, 0, 1),
      frame(FrameType.CONTINUATION, Flag.END_HEADERS, 1, block.subarray(20_000)),
    );
    expect(request).toMatchObject({ url: '/long', readableEnded: true });
    expect(request.headers.accept).toHaveLength(30_000);
  });

  it.each([
    ['malformed', { connection: 'close' }],
    ['said to have a body that it has not', { 'content-length': '1' }],
  ])('is reset when it is %s, and others go on', async (_, fields) => {
    const served = await greeted();
    await served.wire.send(ask(1, fields), ask(3));
    expect(served.streams.map(({ id }) => id)).toEqual([3]);
    expect(await said(served)).toEqual(['1: reset PROTOCOL_ERROR']);
  });

  it('is told that its headers are too large', async () => {
    const served = await greeted();
    // Each byte refers to a header of 4000 that the first one had remembered.
    const long = Buffer.concat([Buffer.from([0x40, 1, 0x61, 0x7f, 0xa1, 0x1e]), Buffer.alloc(4_000, 'x')]);
    const block = Buffer.concat([encodeHeaders(PSEUDO), long, Buffer.alloc(300, 0xbe)]);
    await served.wire.send(headers(1, block, Flag.END_STREAM), ask(3));
    expect(await said(served)).toEqual(['1: 431', '1: "431 Request Header Fields Too Large".']);
    expect(served.streams.map(({ id }) => id)).toEqual([3]);
  });

  it('is refused when too many are under way, and may be repeated', async () => {
    const served = await greeted([], { maxStreams: 2 });
    await served.wire.send(ask(1), ask(3), ask(5));
    expect(await said(served)).toEqual(['5: reset REFUSED_STREAM']);
    served.streams[0]!.response.end('done');
    await said(served);
    await served.wire.send(ask(7));
    expect(served.streams.map(({ id }) => id)).toEqual([1, 3, 7]);
  });

  it('that is refused leaves the table of headers as its client has it', async () => {
    const served = await greeted([], { maxStreams: 1 });
    const remembered = Buffer.from([0x40, 1, 0x61, 1, 0x62]);
    const block = encodeHeaders(PSEUDO);
    await served.wire.send(ask(1), headers(3, Buffer.concat([block, remembered]), Flag.END_STREAM));
    served.streams[0]!.response.end();
    await said(served);
    await served.wire.send(headers(5, Buffer.concat([block, Buffer.from([0xbe])]), Flag.END_STREAM));
    expect(served.streams.at(-1)!.request.headers).toMatchObject({ a: 'b' });
  });

  it('is asked for its body where it waits for that', async () => {
    const served = await greeted();
    await served.wire.send(post(1, { expect: '100-continue' }));
    expect(await said(served)).toEqual(['1: 100']);
    served.streams[0]!.request.on('data', () => undefined).on('end', () => served.streams[0]!.response.end('thanks'));
    await served.wire.send(data(1, 'body', Flag.END_STREAM));
    expect(await said(served)).toEqual(['1: 200', '1: "thanks".']);
  });
});

describe('an answer over HTTP/2', () => {
  it('is a head and a body', async () => {
    const served = await greeted();
    const { response } = await asked(served, ask(1));
    response.setHeader('Warning', ['a', 'b']);
    response.setHeader('ETag', 'x');
    response.removeHeader('Etag');
    expect([response.hasHeader('warning'), response.hasHeader('etag')]).toEqual([true, false]);
    response.writeHead(201, { 'Content-Length': 4, Connection: 'keep-alive' });
    expect(response.headersSent).toBe(true);
    response.end('b\u00f6d');
    const [head, body] = await served.wire.frames();
    expect(head).toMatchObject({ type: FrameType.HEADERS, flags: Flag.END_HEADERS, streamId: 1 });
    const { date, ...fields } = fieldsOf(head!.payload);
    expect(fields).toEqual({ ':status': '201', warning: 'b', 'content-length': '4' });
    expect(Math.abs(Date.parse(date!) - Date.now())).toBeLessThan(5_000);
    expect(body).toMatchObject({ type: FrameType.DATA, flags: Flag.END_STREAM, payload: Buffer.from('b\u00f6d') });
  });

  it('may be text with a character per byte', async () => {
    const served = await greeted();
    const { response } = await asked(served, ask(1));
    response.write('\u00f6', 'latin1');
    response.end('\u00fc', 'latin1');
    const [, ...bodies] = await served.wire.frames();
    expect(bodies.map(({ payload }) => [...payload])).toEqual([[0xf6], [0xfc]]);
  });

  it('is one frame when it has no body', async () => {
    const served = await greeted();
    (await asked(served, ask(1))).response.end();
    expect(await said(served)).toEqual(['1: 200.']);
  });

  it('can send its head long before its body', async () => {
    const served = await greeted();
    const { response } = await asked(served, ask(1));
    response.flushHeaders();
    response.flushHeaders();
    expect(await said(served)).toEqual(['1: 200']);
    response.write('event');
    expect(await said(served)).toEqual(['1: "event"']);
    response.end();
    expect(await said(served)).toEqual(['1: "".']);
  });

  it('has one head', async () => {
    const { response } = await asked(await greeted(), ask(1));
    response.writeHead(200);
    expect(() => response.writeHead(500)).toThrow('the head of the answer is out');
  });

  it.each([
    ['to HEAD', { ':method': 'HEAD' }, 200],
    ['of code 204', {}, 204],
    ['of code 304', {}, 304],
  ])('%s has no body whatever is written', async (_, fields, code) => {
    const served = await greeted();
    await served.wire.send(ask(1, fields), ask(3, fields));
    const [first, second] = served.streams;
    first!.response.writeHead(code, { 'Content-Length': 4 });
    first!.response.end('body');
    const taken = jest.fn();
    second!.response.writeHead(code);
    expect(second!.response.write('body', taken)).toBe(true);
    second!.response.end('more');
    expect(await said(served)).toEqual([`1: ${code}.`, `3: ${code}`, '3: "".']);
    expect(taken.mock.calls).toEqual([[]]);
  });

  it('with a head larger than a frame continues it in others', async () => {
    const served = await greeted();
    const { response } = await asked(served, ask(1));
    response.writeHead(200, { a: 'x'.repeat(40_000) });
    response.end('body');
    const frames = await served.wire.frames();
    expect(frames.map(({ type, flags, payload }) => [type, flags, payload.length > 16_384])).toEqual([
      [FrameType.HEADERS, 0, false],
      [FrameType.CONTINUATION, 0, false],
      [FrameType.CONTINUATION, Flag.END_HEADERS, false],
      [FrameType.DATA, Flag.END_STREAM, false],
    ]);
    const block = Buffer.concat(frames.slice(0, 3).map(({ payload }) => payload));
    expect(fieldsOf(block)).toMatchObject({ ':status': '200', a: 'x'.repeat(40_000) });
  });

  it('ends its stream with the first frame of a large head when it has no body', async () => {
    const served = await greeted();
    const { response } = await asked(served, ask(1));
    response.writeHead(200, { a: 'x'.repeat(20_000) });
    response.end();
    const frames = await served.wire.frames();
    expect(frames.map(({ type, flags }) => [type, flags])).toEqual([
      [FrameType.HEADERS, Flag.END_STREAM],
      [FrameType.CONTINUATION, Flag.END_HEADERS],
    ]);
  });

  it('that is whole has finished, and then is closed', async () => {
    const served = await greeted();
    const { response } = await asked(served, ask(1));
    const events: string[] = [];
    for (const event of ['finish', 'close']) response.on(event, () => events.push(event));
    response.end('body');
    expect(response).toMatchObject({ writableEnded: true, writable: false, writableFinished: false });
    await said(served);
    expect(events).toEqual(['finish', 'close']);
    expect(response).toMatchObject({ writableFinished: true, destroyed: true });
    const late = jest.fn();
    expect(response.write('more', late)).toBe(true);
    expect(late).toHaveBeenCalledWith(expect.any(Error));
    expect(await said(served)).toEqual([]);
  });

  it('that is broken off resets its stream, and is closed without having finished', async () => {
    const served = await greeted();
    const { response } = await asked(served, ask(1));
    const events: string[] = [];
    for (const event of ['finish', 'close']) response.on(event, () => events.push(event));
    response.write('half');
    response.destroy();
    response.destroy();
    expect(await said(served)).toEqual(['1: 200', '1: "half"', '1: reset INTERNAL_ERROR']);
    expect(events).toEqual(['close']);
    expect(response.writableFinished).toBe(false);
  });

  it('leaves in one piece with others of its turn', async () => {
    const served = await greeted();
    await served.wire.send(ask(1), ask(3));
    const before = served.wire.writes;
    for (const { response, id } of served.streams) response.end(`to ${id}`);
    expect(await said(served)).toEqual(['1: 200', '1: "to 1".', '3: 200', '3: "to 3".']);
    expect(served.wire.writes).toBe(before + 1);
  });
});
