import type { KubeObject } from '../api/object';
import { ConversionWebhook, type ConversionCall } from './conversion-webhook';

const settings = { target: { url: 'https://hook.example.io/', certificateAuthority: '' }, reviewVersions: ['v1'] };
const never = new AbortController().signal;

const gate = (name: string): KubeObject => ({ apiVersion: 'example.io/v1', kind: 'Gate', metadata: { name } });

interface Sent {
  readonly uid: string;
  readonly desiredAPIVersion: string;
  readonly objects: readonly KubeObject[];
}

function sentIn({ body }: ConversionCall): Sent {
  return (JSON.parse(Buffer.concat(body).toString()) as { readonly request: Sent }).request;
}

function answer({ uid }: Sent, convertedObjects: readonly unknown[]): Buffer {
  const response = { uid, result: { status: 'Success' }, convertedObjects };
  return Buffer.from(JSON.stringify({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', response }));
}

function converted({ desiredAPIVersion, objects }: Sent): readonly KubeObject[] {
  return objects.map((object) => ({ ...object, apiVersion: desiredAPIVersion }));
}

const namesOf = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata.name);

it('a webhook that knows one object at a time is asked about each by itself, in their order', async () => {
  const counts: number[] = [];
  const webhook = new ConversionWebhook(
    settings,
    async (call) => {
      const sent = sentIn(call);
      counts.push(sent.objects.length);
      return answer(sent, converted(sent).slice(0, 1));
    },
    never,
  );
  const objects = await webhook.convert(['a', 'b', 'c'].map(gate), 'example.io/v2');
  expect(namesOf(objects)).toEqual(['a', 'b', 'c']);
  expect(objects.map(({ apiVersion }) => apiVersion)).toEqual(Array(3).fill('example.io/v2'));
  expect(counts).toEqual([3, 1, 1, 1]);
});

it('however many ask, a webhook has so many calls at once, and what waits for it is asked when one has ended', async () => {
  const MANY = 100;
  const MOST = 32;
  let underWay = 0;
  let most = 0;
  const open: (() => void)[] = [];
  const webhook = new ConversionWebhook(
    settings,
    async (call) => {
      most = Math.max(most, (underWay += 1));
      await new Promise<void>((resolve) => open.push(resolve));
      underWay -= 1;
      const sent = sentIn(call);
      return answer(sent, converted(sent));
    },
    never,
  );
  const asking = Array.from({ length: MANY }, (_, index) => webhook.convert([gate(`g${index}`)], 'example.io/v2'));
  for (let ended = 0; ended < MANY; ended += 1) {
    while (open.length < Math.min(MOST, MANY - ended)) await new Promise((resolve) => setImmediate(resolve));
    open.shift()?.();
  }
  const found = (await Promise.all(asking)).flat();
  expect(namesOf(found)).toEqual(Array.from({ length: MANY }, (_, index) => `g${index}`));
  expect(most).toBe(MOST);
});

it('calls that come to nothing leave their place to others', async () => {
  const webhook = new ConversionWebhook(settings, () => Promise.reject(new Error('down')), never);
  for (let index = 0; index < 50; index += 1) {
    await expect(webhook.convert([gate('a')], 'example.io/v2')).rejects.toMatchObject({
      message: 'conversion webhook for example.io/v1, Kind=Gate failed: down',
    });
  }
});

describe('time', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
  afterEach(() => jest.useRealTimers());

  it('is up for a list whose every call takes long', async () => {
    const timeouts: number[] = [];
    const webhook = new ConversionWebhook(
      settings,
      async (call) => {
        timeouts.push(call.timeoutMs);
        jest.advanceTimersByTime(Math.min(29_000, call.timeoutMs));
        if (call.timeoutMs < 29_000) throw new Error('context deadline exceeded');
        const sent = sentIn(call);
        return answer(sent, converted(sent).slice(0, 1));
      },
      never,
    );
    const objects = Array.from({ length: 1_000 }, (_, index) => gate(`g${index}`));
    await expect(webhook.convert(objects, 'example.io/v2')).rejects.toMatchObject({
      message: expect.stringContaining('context deadline exceeded') as string,
    });
    expect(timeouts).toEqual([30_000, 30_000, 30_000, 30_000, 4_000]);
  });
});
