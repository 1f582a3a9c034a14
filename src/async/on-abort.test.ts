import { getEventListeners } from 'node:events';
import { onAbort } from './on-abort';

it('all who wait for a signal are called once when it aborts, by one listener', () => {
  const controller = new AbortController();
  let called = 0;
  for (let index = 0; index < 100; index += 1) onAbort(controller.signal, () => called++);
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
  controller.abort();
  expect(called).toBe(100);
});

it('who has gone is not called', () => {
  const controller = new AbortController();
  const called: string[] = [];
  const forget = onAbort(controller.signal, () => called.push('gone'));
  onAbort(controller.signal, () => called.push('there'));
  forget();
  controller.abort();
  expect(called).toEqual(['there']);
});

it('who comes after it has aborted is called at once', () => {
  let called = 0;
  onAbort(AbortSignal.abort(), () => called++)();
  expect(called).toBe(1);
});
