import type { UsageError } from './flag-table';
import { describeFlags, parseFlags, type FlagTable } from './flag-table';

const table = {
  'secure-port': { type: 'port', default: '6443', help: 'Port.', section: 'Serving' },
  'request-timeout': { type: 'duration', default: '1m0s', help: 'Limit.', section: 'Serving' },
  'etcd-servers': { type: 'strings', help: 'Endpoints.', section: 'Storage' },
  'anonymous-auth': { type: 'bool', default: 'true', help: 'Anonymous.', section: 'Authentication' },
  'feature-gates': { type: 'map', help: 'Gates.', section: 'Misc' },
} as const satisfies FlagTable;

describe('flags', () => {
  it('have their defaults in the types of the table', () => {
    expect(parseFlags(table, []).options).toEqual({
      securePort: 6443,
      requestTimeout: 60_000,
      etcdServers: [],
      anonymousAuth: true,
      featureGates: {},
    });
  });

  it('are written with or without an equals sign, and lists by comma or repetition', () => {
    const argv = ['--secure-port', '0', '--etcd-servers=a,b', '--etcd-servers', 'c', '--anonymous-auth=false'];
    const { options, given } = parseFlags(table, [...argv, '--feature-gates=A=true,B=false', '--request-timeout=90s']);
    expect(options).toEqual({
      securePort: 0,
      requestTimeout: 90_000,
      etcdServers: ['a', 'b', 'c'],
      anonymousAuth: false,
      featureGates: { A: 'true', B: 'false' },
    });
    expect(given.has('etcd-servers')).toBe(true);
  });

  it('of pairs may have spaces around names and values; a name alone is true', () => {
    const { options } = parseFlags(table, ['--feature-gates= A = x ,B,,=y,C=a=b']);
    expect(options.featureGates).toEqual({ A: 'x', B: 'true', '': 'y', C: 'a=b' });
  });

  it('of pairs may insist on a value', () => {
    const claims = { claim: { type: 'pairs', help: 'Claims.', section: 'Misc' } } as const satisfies FlagTable;
    expect(parseFlags(claims, ['--claim=a=b,c=d=e', '--claim=f=']).options.claim).toEqual({ a: 'b', c: 'd=e', f: '' });
    expect(() => parseFlags(claims, ['--claim=a'])).toThrow(/malformed pair, expect string=string/);
  });

  it('without effect are taken with a warning, and do not swallow what follows', () => {
    const { options, warnings } = parseFlags(table, ['--profiling', '--cloud-provider', 'x', '--secure-port=1'], {
      profiling: 'bool',
      'cloud-provider': 'value',
    });
    expect(options.securePort).toBe(1);
    expect(warnings).toEqual([
      'flag --profiling is accepted but has no effect',
      'flag --cloud-provider is accepted but has no effect',
    ]);
  });

  it('report every problem at once', () => {
    expect.assertions(1);
    try {
      parseFlags(table, ['--nosuch', '--secure-port=70000', 'stray', '--request-timeout=soon', '--etcd-servers']);
    } catch (error) {
      expect((error as UsageError).problems).toEqual([
        'unknown flag: --nosuch',
        'unexpected argument "stray"',
        'flag needs an argument: --etcd-servers',
        'invalid argument "70000" for --secure-port: must be an integer from 0 to 65535',
        'invalid argument "soon" for --request-timeout: must be a duration such as 90s, 5m or 1h30m',
      ]);
    }
  });

  it('that nobody knows are told with the one that may have been meant', () => {
    const ignored = { profiling: 'bool' } as const;
    expect(() => parseFlags(table, ['--secure-prot=1'], ignored)).toThrow(
      'unknown flag: --secure-prot (did you mean --secure-port?)',
    );
    expect(() => parseFlags(table, ['--profilling'], ignored)).toThrow('(did you mean --profiling?)');
  });

  it('have a short form for help', () => {
    const withHelp = { ...table, help: { type: 'bool', help: 'Help.', section: 'Misc' } } as const;
    expect(parseFlags(withHelp, ['-h']).options.help).toBe(true);
  });

  it('that ask for what is not there stop the start, unless they ask for nothing', () => {
    const unbuilt = new Map([['audit-log-path', 'an audit log']]);
    expect(() => parseFlags(table, ['--audit-log-path', '/var/log/audit'], {}, unbuilt)).toThrow(
      'flag --audit-log-path asks for an audit log, which this server does not have yet',
    );
    expect(() => parseFlags(table, ['--audit-log-path='], {}, unbuilt)).not.toThrow();
  });

  it('describe themselves by section', () => {
    expect(describeFlags(table)).toContain(
      'Serving flags:\n\n      --secure-port port\n              Port. (default 6443)',
    );
  });
});
