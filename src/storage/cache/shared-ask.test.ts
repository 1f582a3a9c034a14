import { SharedAsk } from './shared-ask';

function controlled() {
  const sent: { resolve(value: number): void; reject(error: Error): void }[] = [];
  const ask = new SharedAsk(() => new Promise<number>((resolve, reject) => sent.push({ resolve, reject })));
  return { sent, ask };
}

async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe('SharedAsk', () => {
  it('gives those who come while an ask is under way the next one, all of them the same', async () => {
    const { sent, ask } = controlled();
    const first = ask.get();
    const others = [ask.get(), ask.get(), ask.get()];
    await settled();
    expect(sent).toHaveLength(1);
    sent[0]?.resolve(1);
    expect(await first).toBe(1);
    await settled();
    expect(sent).toHaveLength(2);
    const late = ask.get();
    sent[1]?.resolve(2);
    expect(await Promise.all(others)).toEqual([2, 2, 2]);
    await settled();
    sent[2]?.resolve(3);
    expect(await late).toBe(3);
    expect(sent).toHaveLength(3);
  });

  it('asks anew after a failure', async () => {
    const { sent, ask } = controlled();
    const first = ask.get();
    const second = ask.get();
    sent[0]?.reject(new Error('unreachable'));
    await expect(first).rejects.toThrow('unreachable');
    await settled();
    sent[1]?.resolve(2);
    expect(await second).toBe(2);
  });

  it('lets one caller go without disturbing the others', async () => {
    const { sent, ask } = controlled();
    const controller = new AbortController();
    const leaving = ask.get(controller.signal);
    const gone = ask.get(AbortSignal.abort(new Error('gone before')));
    const staying = ask.get();
    controller.abort(new Error('gone'));
    await expect(leaving).rejects.toThrow('gone');
    await expect(gone).rejects.toThrow('gone before');
    sent[0]?.resolve(1);
    await settled();
    sent[1]?.resolve(2);
    expect(await staying).toBe(2);
  });
});
