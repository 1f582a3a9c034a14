import { MAX_WINDOW_BYTES, settingsFrame, windowUpdateFrame } from '../../http2/frames';
import { ask, asked, firstWindow, greeted, said } from './server-connection.fixture';

describe('the windows of a client', () => {
  it('let as much of an answer out as it takes of one stream', async () => {
    const served = await greeted(firstWindow(5));
    const { response } = await asked(served, ask(1));
    response.end('hello world');
    expect(await said(served)).toEqual(['1: 200', '1: "hello"']);
    await served.wire.send(windowUpdateFrame(1, 3));
    expect(await said(served)).toEqual(['1: " wo"']);
    expect(response.writableFinished).toBe(false);
    await served.wire.send(windowUpdateFrame(1, 3));
    expect(await said(served)).toEqual(['1: "rld".']);
    expect(response.writableFinished).toBe(true);
  });

  it('let as much out as it takes of all streams together', async () => {
    const served = await greeted(firstWindow(1_000_000));
    await served.wire.send(ask(1), ask(3), ask(5));
    for (const { response } of served.streams) response.end(Buffer.alloc(30_000));
    expect(await said(served)).toEqual([
      ...['1: 200', '1: 16384', '1: 13616.'],
      ...['3: 200', '3: 16384', '3: 13616.'],
      ...['5: 200', '5: 5535'],
    ]);
    await served.wire.send(windowUpdateFrame(5, 100_000));
    expect(await said(served)).toEqual([]);
    await served.wire.send(windowUpdateFrame(0, 100_000));
    expect(await said(served)).toEqual(['5: 16384', '5: 8081.']);
  });

  it('become smaller while an answer waits, even smaller than nothing, and larger again', async () => {
    const served = await greeted(firstWindow(10));
    (await asked(served, ask(1))).response.end('0123456789abcdef');
    await said(served);
    await served.wire.send(settingsFrame(firstWindow(3)), windowUpdateFrame(1, 6));
    expect(await said(served)).toEqual(['settings acknowledged']);
    await served.wire.send(windowUpdateFrame(1, 2));
    expect(await said(served)).toEqual(['1: "a"']);
    await served.wire.send(settingsFrame(firstWindow(6)));
    expect((await said(served)).sort()).toEqual(['1: "bcd"', 'settings acknowledged']);
    // A new stream begins with what was said last.
    (await asked(served, ask(3))).response.end('0123456789');
    expect(await said(served)).toEqual(['3: 200', '3: "012345"']);
  });

  it('do not hold back what has no bytes', async () => {
    const served = await greeted(firstWindow(4));
    const { response } = await asked(served, ask(1));
    response.write('four');
    await served.wire.send(settingsFrame(firstWindow(0)));
    await said(served);
    response.end();
    expect(await said(served)).toEqual(['1: "".']);
  });

  it('send the end of an answer with the last byte that waited', async () => {
    const served = await greeted(firstWindow(2));
    const { response } = await asked(served, ask(1));
    response.write('abc');
    response.write('');
    response.end();
    await served.wire.send(windowUpdateFrame(1, 10));
    const lines = await said(served);
    expect(lines.join(' ')).toMatch(/^1: 200 1: "ab" 1: "c"( 1: "")*\.$/);
    expect(response.writableFinished).toBe(true);
  });

  it.each<[string, readonly Buffer[]]>([
    ['of a stream', [windowUpdateFrame(1, MAX_WINDOW_BYTES)]],
    ['of the connection', [windowUpdateFrame(0, MAX_WINDOW_BYTES)]],
    ['of each stream', [settingsFrame(firstWindow(MAX_WINDOW_BYTES + 1))]],
    ['of a stream by way of the settings', [windowUpdateFrame(1, 10), settingsFrame(firstWindow(MAX_WINDOW_BYTES))]],
  ])('%s may not grow beyond 2³¹−1', async (_, frames) => {
    const served = await greeted();
    await asked(served, ask(1));
    await served.wire.send(...frames);
    expect((await said(served)).at(-1)).toBe('go away after 1 FLOW_CONTROL_ERROR');
  });
});
