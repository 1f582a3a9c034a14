import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { gatherWrites } from './gathered-writes';

/** Writes to it, as they reach the system. */
function recording(): { readonly socket: Writable; readonly writes: string[] } {
  const writes: string[] = [];
  const socket = new Writable({
    decodeStrings: false,
    writev: (chunks, done) => {
      writes.push(chunks.map(({ chunk }) => String(chunk)).join(''));
      done();
    },
  });
  return { socket, writes };
}

it('makes one write of what comes in one turn of the event loop', async () => {
  const { socket, writes } = recording();
  for (const text of ['head', 'body']) {
    gatherWrites(socket);
    socket.write(text);
    // As between two callbacks of one turn.
    await Promise.resolve();
  }
  expect(writes).toEqual([]);
  await turn();
  gatherWrites(socket);
  socket.write('next');
  await turn();
  expect(writes).toEqual(['headbody', 'next']);
});

it('holds nothing back when the connection is ended', async () => {
  const { socket, writes } = recording();
  gatherWrites(socket);
  socket.write('last');
  socket.end();
  expect(writes).toEqual(['last']);
  await turn();
  expect(socket.writableFinished).toBe(true);
});
