import { auditFlags, auditFromFlags, auditProblems, auditWarnings } from './audit-flags';
import { parseFlags } from './flag-table';

const flagsOf = (...args: string[]) => parseFlags(auditFlags, args).options;
const POLICY = '--audit-policy-file=p';

describe('the flags of the audit log', () => {
  it('ask for nothing by default, nor without a policy or a place for events', () => {
    expect(auditFromFlags(flagsOf())).toBeUndefined();
    expect(auditFromFlags(flagsOf('--audit-log-path=a'))).toBeUndefined();
    expect(auditWarnings(flagsOf('--audit-log-path=a'))).toHaveLength(1);
    expect(auditWarnings(flagsOf(POLICY))).toHaveLength(1);
    expect(auditWarnings(flagsOf(POLICY, '--audit-log-path=a'))).toEqual([]);
  });

  it("have kube-apiserver's defaults", () => {
    expect(auditFromFlags(flagsOf(POLICY, '--audit-log-path=a', '--audit-webhook-config-file=w'))).toEqual({
      policyFile: 'p',
      log: {
        mode: 'blocking',
        batch: { bufferSize: 10_000, maxBatchSize: 1, maxWaitMs: 0 },
        path: 'a',
        format: 'json',
        maxBytes: 104_857_600,
        maxAgeDays: 0,
        maxBackups: 0,
        compress: false,
      },
      webhook: {
        mode: 'batch',
        batch: { bufferSize: 10_000, maxBatchSize: 400, maxWaitMs: 30_000, throttle: { qps: 10, burst: 15 } },
        configFile: 'w',
        initialBackoffMs: 10_000,
      },
    });
  });

  it('know the old name of the first wait', () => {
    const options = auditFromFlags(
      flagsOf(POLICY, '--audit-webhook-config-file=w', '--audit-webhook-batch-initial-backoff=2s'),
    );
    expect(options?.webhook?.initialBackoffMs).toBe(2_000);
  });

  it.each([
    ['--audit-log-mode "later" is not one of', '--audit-log-mode=later'],
    ['--audit-log-format "xml" is not one of json, legacy', '--audit-log-format=xml'],
    ['--audit-log-version "audit.k8s.io/v1beta1" is not audit.k8s.io/v1', '--audit-log-version=audit.k8s.io/v1beta1'],
    ['--audit-webhook-batch-max-size must be at least 1', '--audit-webhook-batch-max-size=0'],
    ['--audit-webhook-batch-throttle-qps must be more than 0', '--audit-webhook-batch-throttle-qps=0'],
    ['--audit-webhook-batch-buffer-size must be 1 to 1000000', '--audit-webhook-batch-buffer-size=0'],
  ])('are refused where they are wrong: %s', (problem, flag) => {
    const flags = flagsOf('--audit-log-path=a', '--audit-webhook-config-file=w', flag);
    expect(auditProblems(flags)).toEqual([expect.stringContaining(problem)]);
  });

  it('are not looked at where they are about nothing', () => {
    expect(auditProblems(flagsOf('--audit-log-mode=later'))).toEqual([]);
  });
});
