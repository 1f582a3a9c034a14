import fc from 'fast-check';
import { runTextJob } from './run-text-job';
import type { TextResult, TextJob } from './text-jobs';
import { TextWorker, type TextWorkerOptions } from './text-worker';

const yaml = (text: string): TextJob => ({ kind: 'yamlToJson', bytes: Buffer.from(text) });
const textOf = ({ bytes }: TextResult): string => Buffer.from(bytes ?? []).toString();

/** A valid text that takes the thread tens of milliseconds. */
const LONG = yaml(`a:\n${'- b\n'.repeat(100_000)}`);

const workers: TextWorker[] = [];
function open(options: Partial<TextWorkerOptions> = {}, timeOf?: (task: string) => number | undefined): TextWorker {
  const worker = new TextWorker(options, timeOf);
  workers.push(worker);
  return worker;
}
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
});

describe('the worker thread', () => {
  it('reads YAML, prints it and inspects JSON', async () => {
    const worker = open();
    expect(textOf(await worker.run('a', yaml('b: yes\n')))).toBe('{"b":true}');
    expect((await worker.run('a', yaml('b: 1\nb: 2'))).duplicates).toEqual([
      'yaml: unmarshal errors:\n  line 2: key "b" already set in map',
    ]);
    expect(await worker.run('a', yaml('b: ['))).toEqual({
      problem: 'yaml: line 1: did not find expected node content',
    });
    const printed = await worker.run('a', { kind: 'jsonToYaml', bytes: Buffer.from('{"b":[1,"é"]}') });
    expect(textOf(printed)).toBe('b:\n- 1\n- é\n');
    const inspected = await worker.run('a', { kind: 'inspectJson', bytes: Buffer.from('{"b":1,"b":2}') });
    expect(inspected).toEqual({ duplicates: ['b'] });
    expect(await worker.run('a', { kind: 'inspectJson', bytes: Buffer.from('{') })).toEqual({
      problem: 'unexpected end of JSON input',
    });
  });

  it('does what would be done without it, whatever the text is', async () => {
    const worker = open();
    const pieces = fc.constantFrom(...'ab1:- \n#[]{},&*!|>\'"'.split(''), ': ', '\n- ', '\n  ', '&a ', '*a', '<<: ');
    await fc.assert(
      fc.asyncProperty(fc.array(pieces, { maxLength: 20 }), async (parts) => {
        const job = yaml(parts.join(''));
        const { bytes, ...rest } = await worker.run('a', job);
        const { bytes: expected, ...expectedRest } = runTextJob(job);
        expect(rest).toEqual(expectedRest);
        expect(textOf({ ...(bytes && { bytes }) })).toBe(textOf({ ...(expected && { bytes: expected }) }));
      }),
      { numRuns: 200 },
    );
    expect(worker.terminations).toBe(0);
  });

  it('leaves the bytes of its caller alone', async () => {
    const bytes = Buffer.from('xxa: 1').subarray(2);
    await open().run('a', { kind: 'yamlToJson', bytes });
    expect(bytes.toString()).toBe('a: 1');
  });

  it('is started by the first job and ended when there is none', async () => {
    const worker = open({ idleMs: 1 });
    expect(worker.isRunning).toBe(false);
    await worker.run('a', yaml('b: 1'));
    while (worker.isRunning) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(textOf(await worker.run('a', yaml('b: 2')))).toBe('{"b":2}');
    expect(worker.terminations).toBe(0);
  });

  it('lets users take turns', async () => {
    const worker = open();
    const order: string[] = [];
    const run = async (user: string): Promise<void> => {
      await worker.run(user, LONG);
      order.push(user);
    };
    await Promise.all(['greedy', 'greedy', 'greedy', 'greedy', 'a', 'b'].map(run));
    // The first was alone when it began, and was behind the others from then on.
    expect(order).toEqual(['greedy', 'greedy', 'a', 'b', 'greedy', 'greedy']);
  });

  it('refuses what there is no room for', async () => {
    const worker = open({ waitingBytesPerUser: 2 * LONG.bytes.length, waitingBytes: 10 * LONG.bytes.length });
    const responses = await Promise.allSettled([1, 2, 3, 4].map(() => worker.run('a', LONG)));
    expect(responses.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected']);
    expect(responses[3]).toMatchObject({ reason: { reason: 'busy' } });
  });

  it('ends a thread whose job takes too long, and goes on with the next', async () => {
    // Starting a thread alone takes longer.
    const worker = open({ jobTimeoutMs: 1 });
    const answers = await Promise.allSettled([worker.run('a', LONG), worker.run('a', LONG)]);
    for (const response of answers) expect(response).toMatchObject({ reason: { reason: 'time' } });
    expect(worker.terminations).toBe(2);
    expect(worker.isRunning).toBe(false);
  });

  it('lets a job go on that has had no processor yet, however long it waits for one', async () => {
    let looks = 0;
    const worker = open({ jobTimeoutMs: 1 }, () => (looks++, 0));
    const answers = await Promise.all([worker.run('a', LONG), worker.run('a', LONG)]);
    expect(answers.map(({ bytes }) => bytes !== undefined)).toEqual([true, true]);
    expect(looks > 0).toBe(process.platform === 'linux');
  });

  it('goes by the clock where nobody knows how long a thread has worked', async () => {
    const worker = open({ jobTimeoutMs: 1 }, () => undefined);
    await expect(worker.run('a', LONG)).rejects.toMatchObject({ reason: 'time' });
  });

  it('ends a thread whose job takes too much memory', async () => {
    const worker = open({ heapMegabytes: 8 });
    const many = yaml(`a:\n${'- b: c\n'.repeat(180_000)}`);
    await expect(worker.run('a', many)).rejects.toMatchObject({ reason: 'memory' });
    expect(worker.terminations).toBe(1);
    expect(textOf(await worker.run('a', yaml('b: 2')))).toBe('{"b":2}');
  });

  it('does not begin what nobody waits for any more', async () => {
    const worker = open();
    const gone = new AbortController();
    const first = worker.run('a', LONG);
    const second = worker.run('a', LONG, gone.signal);
    expect(worker.waiting).toBe(1);
    gone.abort(new Error('gone'));
    await expect(second).rejects.toThrow('gone');
    expect(worker.waiting).toBe(0);
    await first;
    await expect(worker.run('a', LONG, gone.signal)).rejects.toThrow('gone');
  });

  it('refuses what waits when it stops', async () => {
    const worker = open();
    const both = Promise.allSettled([worker.run('a', LONG), worker.run('b', LONG)]);
    await worker.stop();
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(worker.run('a', LONG)).rejects.toMatchObject({ reason: 'stopped' });
  });
});
