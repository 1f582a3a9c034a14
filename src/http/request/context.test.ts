import { EventEmitter } from 'node:events';
import { RequestContext } from './context';
import type { HttpRequest, HttpResponse } from '../transport/exchange';

class FakeResponse extends EventEmitter {
  writableFinished = false;
}

function open(): { readonly context: RequestContext; readonly response: FakeResponse } {
  const response = new FakeResponse();
  const context = new RequestContext({} as HttpRequest, response as unknown as HttpResponse);
  return { context, response };
}

describe('the signal of a request', () => {
  it('belongs to it alone: a listener that is left behind hears of no other client that goes', () => {
    const first = open();
    let heard = 0;
    first.context.signal.addEventListener('abort', () => heard++);
    first.response.writableFinished = true;
    first.response.emit('close');
    for (let index = 0; index < 300; index++) {
      const { context, response } = open();
      expect(context.signal).not.toBe(first.context.signal);
      response.emit('close');
      expect(context.signal.aborted).toBe(true);
    }
    expect(heard).toBe(0);
    expect(first.context.signal.aborted).toBe(false);
  });

  it('says that the client has gone, also when it is asked for only then', () => {
    const { context, response } = open();
    response.emit('close');
    expect(context.signal.reason).toMatchObject({ name: 'ClientGoneError' });
  });
});
