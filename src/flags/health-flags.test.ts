import { healthAddress, healthProblems } from './health-flags';
import { emulatedRelease, versionProblems } from './version-flags';

describe('--healthz-bind-address', () => {
  it.each([
    [':10256', undefined, 10256],
    ['0.0.0.0:10256', '0.0.0.0', 10256],
    ['127.0.0.1:0', '127.0.0.1', 0],
    ['[::]:8080', '::', 8080],
    ['localhost:1', 'localhost', 1],
  ])('%s is an address', (text, host, port) => {
    expect(healthAddress(text)).toEqual({ host, port });
    expect(healthProblems({ healthzBindAddress: text })).toEqual([]);
  });

  it.each(['10256', '127.0.0.1', ':99999', 'example.com:80', '[]10', '::1:80'])('%s is none', (text) => {
    expect(healthAddress(text)).toBeUndefined();
    expect(healthProblems({ healthzBindAddress: text })).toHaveLength(1);
  });

  it('may be empty', () => expect(healthProblems({ healthzBindAddress: '' })).toEqual([]));
});

describe('--emulated-version', () => {
  it.each([
    ['1.27', '27'],
    ['v1.30', '30'],
    ['kube=1.21', '21'],
    ['1.25.3', '25'],
  ])('%s is a release', (text, minor) => expect(emulatedRelease(text)).toEqual({ major: '1', minor }));

  it.each(['1', '2.1', '1.9', '1.x', '27'])('%s is none', (text) => {
    expect(versionProblems({ emulatedVersion: text })).toHaveLength(1);
  });

  it('may be left out', () => expect(versionProblems({ emulatedVersion: '' })).toEqual([]));
});
