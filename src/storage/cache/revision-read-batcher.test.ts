import { RevisionReadBatcher } from './revision-read-batcher';

function controlled() {
  const sent: { resolve(value: number): void; reject(error: Error): void }[] = [];
  const ask = new RevisionReadBatcher(() => new Promise<number>((resolve, reject) => sent.push({ resolve, reject })));
  return { sent, ask };
}

/** Questions that were to be sent at the end of this turn, or of the one that an answer has begun, have been sent. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe('RevisionReadBatcher', () => {
  let now = 0;
  beforeEach(() => jest.spyOn(performance, 'now').mockImplementation(() => now));
  afterEach(() => jest.restoreAllMocks());

  it('sends one question for all who ask in one turn of the loop', async () => {
    const { sent, ask } = controlled();
    const responses = [ask.get(), ask.get(), ask.get()];
    expect(sent).toHaveLength(0);
    await settled();
    expect(sent).toHaveLength(1);
    sent[0]?.resolve(1);
    expect(await Promise.all(responses)).toEqual([1, 1, 1]);
  });

  it('gives those who come after a question was sent another one', async () => {
    const { sent, ask } = controlled();
    const first = ask.get();
    await settled();
    const second = ask.get();
    await settled();
    expect(sent).toHaveLength(2);
    sent[1]?.resolve(2);
    expect(await second).toBe(2);
    sent[0]?.resolve(1);
    expect(await first).toBe(1);
  });

  it('gathers for some turns of the loop where answers take time', async () => {
    const { sent, ask } = controlled();
    const slow = ask.get();
    await settled();
    now += 10;
    sent[0]?.resolve(1);
    await slow;

    const answers = [ask.get()];
    await settled();
    answers.push(ask.get());
    await settled();
    expect(sent).toHaveLength(1);
    now += 10;
    await settled();
    expect(sent).toHaveLength(2);

    answers.push(ask.get());
    for (let turn = 0; turn < 20; turn++) await settled();
    expect(sent).toHaveLength(3);
    sent[1]?.resolve(2);
    sent[2]?.resolve(3);
    expect(await Promise.all(answers)).toEqual([2, 2, 3]);
  });

  it('has few questions under way, however many ask', async () => {
    const { sent, ask } = controlled();
    const answers: Promise<number>[] = [];
    for (let turn = 0; turn < 20; turn++) {
      answers.push(ask.get());
      await settled();
    }
    expect(sent).toHaveLength(4);
    sent[2]?.resolve(1);
    await settled();
    expect(sent).toHaveLength(5);
    for (const question of sent) question.resolve(2);
    expect((await Promise.all(answers)).sort()).toEqual([1, ...Array<number>(19).fill(2)]);
  });

  it('asks anew after a failure', async () => {
    const { sent, ask } = controlled();
    const first = ask.get();
    await settled();
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
    await settled();
    sent[0]?.resolve(1);
    expect(await staying).toBe(1);
  });
});
