import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { MemoryBudget } from '../../memory/memory-budget';
import { ConnectionAccounts } from '../transport/connection-accounts';
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

describe('room for large answers', () => {
  it('is there for few of them in a turn of the loop, on however many connections clients have taken theirs', async () => {
    const accounts = new ConnectionAccounts(new MemoryBudget(Infinity));
    const connections = Array.from({ length: 20 }, () => new EventEmitter() as Socket);
    const held = accounts.budget.connectionBytes;
    let now = 0;
    let written = 0;
    const write = async (socket: Socket): Promise<void> => {
      const request = { socket } as HttpRequest;
      const response = new FakeResponse() as unknown as HttpResponse;
      await new RequestContext(request, response, true, accounts).room(true);
      now += 5;
      written++;
    };
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    try {
      for (const socket of connections) accounts.of(socket).hold(held);
      const writes = Promise.all(connections.map(write));
      for (const socket of connections) accounts.of(socket).release(held);
      const perTurn: number[] = [];
      for (let before = 0; written < connections.length; before = written) {
        await new Promise((resolve) => setImmediate(resolve));
        perTurn.push(written - before);
      }
      await writes;
      expect(Math.max(...perTurn)).toBe(1);
    } finally {
      jest.restoreAllMocks();
    }
  });
});
