import { apiserverFlags } from './apiserver-flags';
import { parseFlags } from './flag-table';
import { DEFAULT_HTTP2, http2Options, http2Problems } from './http2-flags';

const flags = (...argv: readonly string[]) => parseFlags(apiserverFlags, argv).options;

describe('the flags of HTTP/2', () => {
  it('serve it to 250 requests of a connection where they say nothing', () => {
    expect(http2Options(flags())).toEqual({ maxStreamsPerConnection: 250, goAwayChance: 0 });
    expect(http2Options(flags())).toEqual(DEFAULT_HTTP2);
    expect(http2Problems(flags())).toEqual([]);
  });

  it('take 0 requests for the default, as kube-apiserver does', () => {
    const options = http2Options(flags('--http2-max-streams-per-connection=0'));
    expect(options?.maxStreamsPerConnection).toBe(250);
  });

  it('say how many requests a connection may have, and how often it is sent away', () => {
    const options = flags('--http2-max-streams-per-connection=1000', '--goaway-chance=0.02');
    expect(http2Problems(options)).toEqual([]);
    expect(http2Options(options)).toEqual({ maxStreamsPerConnection: 1000, goAwayChance: 0.02 });
  });

  it('turn it off', () => {
    expect(http2Options(flags('--disable-http2-serving'))).toBeUndefined();
    expect(http2Options(flags('--disable-http2-serving=false'))).toBeDefined();
  });

  it('send no more than one answer in fifty away', () => {
    expect(http2Problems(flags('--goaway-chance=0.03'))).toEqual([
      '--goaway-chance can not be less than 0 or greater than 0.02',
    ]);
  });

  it('refuse more requests than a connection can be of use for', () => {
    expect(http2Problems(flags('--http2-max-streams-per-connection=8001'))).toEqual([
      '--http2-max-streams-per-connection can not be greater than 8000',
    ]);
  });

  it('are refused when they are less than nothing', () => {
    expect(() => flags('--goaway-chance=-0.01')).toThrow('--goaway-chance');
    expect(() => flags('--http2-max-streams-per-connection=-1')).toThrow('--http2-max-streams-per-connection');
  });
});
