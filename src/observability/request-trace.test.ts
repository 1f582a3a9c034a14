import type { Span } from '@opentelemetry/api';
import { RequestTrace } from './request-trace';

const SPAN_CONTEXT = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', traceFlags: 1 };

function spanNamed(name: string, ended: string[]): Span {
  const span = {
    spanContext: () => SPAN_CONTEXT,
    setStatus: () => span,
    setAttributes: () => span,
    end: () => ended.push(name),
  };
  return span as unknown as Span;
}

function traced(): { readonly trace: RequestTrace; readonly begun: string[]; readonly ended: string[] } {
  const begun: string[] = [];
  const ended: string[] = [];
  const trace = new RequestTrace(spanNamed('root', ended), (name) => {
    begun.push(name);
    return spanNamed(name, ended);
  });
  return { trace, begun, ended };
}

describe('a request that is traced', () => {
  it('waits for a call of the store no turn longer than one that is not', async () => {
    const { trace, ended } = traced();
    const call = Promise.resolve('value');
    expect(trace.observe('etcd get', {}, call)).toBe(call);
    await call;
    expect(ended).toEqual(['etcd get']);
    const failing = Promise.reject(new Error('gone'));
    await expect(trace.observe('etcd update', {}, failing)).rejects.toThrow('gone');
    await Promise.resolve();
    expect(ended).toEqual(['etcd get', 'etcd update']);
  });

  it('has so many spans at most, however much it does', async () => {
    const { trace, begun, ended } = traced();
    for (let step = 0; step < 1_000; step++) {
      await trace.within('admission', () => trace.observe('etcd update', {}, Promise.resolve()));
    }
    expect(await trace.call('webhook', {}, (parent) => Promise.resolve(parent))).toContain(SPAN_CONTEXT.traceId);
    expect(begun).toHaveLength(200);
    trace.end({});
    expect(ended).toHaveLength(201);
  });
});
