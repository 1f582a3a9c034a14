import { apiserverFlags, type ApiserverOptions } from '../../flags/apiserver-flags';
import { describeFlags, parseFlags, UsageError } from '../../flags/flag-table';
import { ignoredFlags } from '../../flags/ignored-flags';
import { checkFlags } from '../../flags/server-from-flags';
import { unbuiltFlags } from '../../flags/unbuilt-flags';
import { certificateFindings } from './certificate-findings';
import { configurationFindings } from './configuration-findings';
import { fail, ok, printFindings, warn, type Finding } from './finding';
import { machineFindings } from './machine-findings';
import { storeFindings } from './store-findings';

const INTRODUCTION = `sternpost doctor: tells what would keep "sternpost apiserver" with the same flags from serving, and what to do about it.

Looks at flags, certificates, files of configuration and keys, etcd or the data file, the clock, and the machine. Changes nothing, and may run beside a server.
Ends with 1 when something fails, with 0 otherwise.
`;

/** `sternpost doctor`. */
export async function doctorCommand(argv: readonly string[]): Promise<void> {
  const { options, warnings } = parseFlags(apiserverFlags, argv, ignoredFlags, unbuiltFlags);
  if (options.help) {
    process.stdout.write(`${INTRODUCTION}\n${describeFlags(apiserverFlags)}`);
    return;
  }
  const findings = [
    ...flagFindings(options, warnings),
    ...certificateFindings(options, Date.now()),
    ...configurationFindings(options),
    ...(await storeFindings(options)),
    ...(await machineFindings(options)),
  ];
  const failed = findings.filter(({ level }) => level === 'fail').length;
  const warned = findings.filter(({ level }) => level === 'warn').length;
  process.stdout.write(`${printFindings(findings)}\n${failed} failed, ${warned} to look at\n`);
  if (failed > 0) process.exitCode = 1;
}

function flagFindings(options: ApiserverOptions, given: readonly string[]): readonly Finding[] {
  try {
    const { warnings } = checkFlags(options, given);
    const advice = 'See "sternpost apiserver --help" and docs/compatibility.md.';
    return warnings.length === 0
      ? [ok('flags', 'they fit together')]
      : warnings.map((text) => warn('flags', text, advice));
  } catch (error) {
    const problems = error instanceof UsageError ? error.problems : [(error as Error).message];
    return problems.map((text) => fail('flags', text, '"sternpost apiserver --help" lists the flags.'));
  }
}
