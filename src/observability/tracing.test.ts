import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseTraceParent, sampler, TRACING_INSTALL } from './tracing';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

describe("a client's traceparent", () => {
  it('has a trace, a span and whether it is sampled', () => {
    expect(parseTraceParent(`00-${TRACE}-${SPAN}-01`)).toEqual({
      traceId: TRACE,
      spanId: SPAN,
      traceFlags: 1,
      isRemote: true,
    });
    expect(parseTraceParent(`00-${TRACE}-${SPAN}-02`)).toMatchObject({ traceFlags: 0 });
    expect(parseTraceParent(`01-${TRACE}-${SPAN}-01-more`)).toMatchObject({ traceId: TRACE });
  });

  it.each([
    undefined,
    '',
    TRACE,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-${'x'.repeat(200)}`,
  ])('is not read when it is %s', (header) => {
    expect(parseTraceParent(header)).toBeUndefined();
  });
});

describe('which requests are sampled', () => {
  const asking = parseTraceParent(`00-${TRACE}-${SPAN}-01`);

  it('is so many of a million', () => {
    let next = 0;
    const isSampled = sampler(
      10_000,
      () => (next = (next + 0.001) % 1),
      () => 0,
    );
    const sampled = Array.from({ length: 1_000 }, () => isSampled(undefined)).filter(Boolean);
    expect(sampled).toHaveLength(10);
  });

  it('is none without a share, and those whose clients ask, so many a second', () => {
    let now = 0;
    const isSampled = sampler(
      0,
      () => 0,
      () => now,
    );
    expect(isSampled(undefined)).toBe(false);
    const ask = (): number => Array.from({ length: 500 }, () => isSampled(asking)).filter(Boolean).length;
    expect(ask()).toBe(50);
    now = 1_000;
    expect(ask()).toBe(10);
    expect(isSampled(parseTraceParent(`00-${TRACE}-${SPAN}-00`))).toBe(false);
  });
});

describe('the command that installs what tracing needs', () => {
  it('names each of the optional peers with a range', () => {
    const { peerDependencies } = JSON.parse(readFileSync(resolve(__dirname, '../../package.json'), 'utf8')) as {
      readonly peerDependencies: Readonly<Record<string, string>>;
    };
    const named = Array.from(TRACING_INSTALL.matchAll(/(@opentelemetry\/[\w-]+)@[~^>]/g), ([, name]) => name);
    expect(named.sort()).toEqual(Object.keys(peerDependencies).sort());
  });
});
