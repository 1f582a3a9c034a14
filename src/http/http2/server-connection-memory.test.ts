import { Flag, FrameType } from '../../http2/frames';
import { frame } from '../../http2/wire.fixture';
import { MemoryBudget, type MemoryAccount } from '../../memory/memory-budget';
import { ask, asked, greeted, post, said, type Served } from './server-connection.fixture';

/** What one connection makes us hold is in its account: to the last 16 KiB, which are not worth counting. */

const KIB = 1024;

async function accounted(): Promise<Served & { readonly account: MemoryAccount }> {
  const account = new MemoryBudget(Infinity).open(() => undefined);
  return { ...(await greeted([], { accountOf: () => account })), account };
}

describe('the account of a connection', () => {
  it('has the memory for half a frame until the frame is whole', async () => {
    const { wire, account } = await accounted();
    const unknown = frame(0xff, 0, 0, Buffer.alloc(200 * KIB));
    await wire.send(unknown.subarray(0, -1));
    expect(account.bytes).toBeGreaterThan(180 * KIB);
    expect(account.bytes).toBeLessThanOrEqual(200 * KIB + 9);
    await wire.send(unknown.subarray(-1));
    expect(account.bytes).toBe(0);
  });

  it('has nothing for a frame that was only announced', async () => {
    const { wire, account } = await accounted();
    await wire.send(frame(0xff, 0, 0, Buffer.alloc(200 * KIB)).subarray(0, 9));
    expect(account.bytes).toBe(0);
  });

  it('has half a block of headers until the block is whole', async () => {
    const served = await accounted();
    const { wire, account } = served;
    const block = ask(1, { 'x-long': 'x'.repeat(80 * KIB) }).subarray(9);
    await wire.send(frame(FrameType.HEADERS, Flag.END_STREAM, 1, block.subarray(0, 40 * KIB)));
    expect(account.bytes).toBe(32 * KIB);
    await wire.send(frame(FrameType.CONTINUATION, 0, 1, block.subarray(40 * KIB, 70 * KIB)));
    expect(account.bytes).toBe(64 * KIB);
    await wire.send(frame(FrameType.CONTINUATION, Flag.END_HEADERS, 1, block.subarray(70 * KIB)));
    served.streams[0]!.response.end();
    await said(served);
    expect(account.bytes).toBe(0);
  });

  it('has the headers of the requests under way', async () => {
    const served = await accounted();
    const long = { 'x-long': 'x'.repeat(20 * KIB) };
    for (const id of [1, 3, 5]) await asked(served, ask(id, long));
    expect(served.account.bytes).toBe(48 * KIB);
    for (const stream of served.streams) stream.response.end();
    await said(served);
    expect(served.account.bytes).toBe(0);
  });

  it('has a body that nobody takes', async () => {
    const served = await accounted();
    await asked(served, post(1), frame(FrameType.DATA, 0, 1, Buffer.alloc(100 * KIB)));
    expect(served.account.bytes).toBe(100 * KIB);
    served.streams[0]!.response.destroy();
    await said(served);
    expect(served.account.bytes).toBe(0);
  });
});

it('of many connections with half a frame each, the budget drops those that have had it for longest', async () => {
  const budget = new MemoryBudget(2048 * KIB);
  const half = frame(0xff, 0, 0, Buffer.alloc(250 * KIB)).subarray(0, -1);
  const all: Served[] = [];
  for (let count = 0; count < 20; count++) {
    const served: Served = await greeted([], { accountOf: () => budget.open(() => served.wire.destroy()) });
    all.push(served);
    await served.wire.send(half);
    expect(budget.heldBytes).toBeLessThanOrEqual(budget.limitBytes);
  }
  const open = all.map(({ wire }) => !wire.destroyed);
  expect(open.filter(Boolean)).toHaveLength(8);
  expect(open.slice(-8).every(Boolean)).toBe(true);
});
