import fc from 'fast-check';
import { MessageReader, messagePrefix } from './grpc-frames';

const frame = (message: Uint8Array): Buffer => Buffer.concat([messagePrefix(message.length), message]);

describe('messages of gRPC', () => {
  it('come out of a stream as they went in, however it is cut, and keep none of its memory', () => {
    const messages = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 });
    const cuts = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(messages, cuts, (sent, lengths) => {
        const stream = Buffer.concat(sent.map((message) => frame(message)));
        const reader = new MessageReader();
        const received: Buffer[] = [];
        for (let from = 0, cut = 0; from < stream.length; cut++) {
          const to = from + lengths[cut % lengths.length]!;
          const chunk = stream.subarray(from, to);
          received.push(...reader.push(chunk));
          chunk.fill(0xaa);
          from = to;
        }
        expect(received.map((message) => [...message])).toEqual(sent.map((message) => [...message]));
      }),
    );
  });

  it('have memory of their own, of every size', () => {
    const reader = new MessageReader();
    const sent = Array.from({ length: 200 }, (_, index) => Buffer.alloc((index * 997) % 20_000, index));
    const received = sent.flatMap((message) => reader.push(frame(message)));
    expect(received.every((message, index) => message.equals(sent[index]!))).toBe(true);
    expect(received).toHaveLength(sent.length);
  });

  it('are refused when they are compressed', () => {
    const bytes = frame(Buffer.from('x'));
    bytes[0] = 1;
    expect(() => new MessageReader().push(bytes)).toThrow('compressed');
  });
});
