import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { freemem, totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { ApiserverOptions } from '../../flags/apiserver-flags';
import { nodeVersionProblem } from '../node-version';
import { fail, ok, warn, type Finding } from './finding';

/** Each connection takes one. */
const MIN_OPEN_FILES = 4_096;
const MIB = 1024 * 1024;

/** What the machine, and Node.js on it, give. */
export async function machineFindings(
  options: Pick<ApiserverOptions, 'bindAddress' | 'securePort'>,
): Promise<readonly Finding[]> {
  const problem = nodeVersionProblem();
  return [
    problem === undefined
      ? ok('node', process.versions.node)
      : fail('node', problem, 'Install a newer release of Node.js.'),
    ...openFiles(),
    heap(),
    await port(options),
  ];
}

function openFiles(): readonly Finding[] {
  const limit = /^Max open files\s+(\d+)/m.exec(readIfThere('/proc/self/limits'))?.[1];
  if (limit === undefined) return [];
  return Number(limit) < MIN_OPEN_FILES
    ? [
        warn(
          'open files',
          `${limit} at most`,
          'Raise it (LimitNOFILE= of the systemd unit, ulimit -n): each connection takes one.',
        ),
      ]
    : [ok('open files', `${limit} at most`)];
}

function heap(): Finding {
  const limit = getHeapStatistics().heap_size_limit;
  const memory = process.constrainedMemory() || totalmem();
  const text = `the heap has ${Math.round(limit / MIB)} MiB at most, of ${Math.round(Math.min(memory, totalmem()) / MIB)} (${Math.round(freemem() / MIB)} are free)`;
  return limit > memory
    ? warn(
        'memory',
        text,
        'Set NODE_OPTIONS=--max-old-space-size to three quarters of the memory, or the system will kill the server.',
      )
    : ok('memory', text);
}

function port({ bindAddress, securePort }: Pick<ApiserverOptions, 'bindAddress' | 'securePort'>): Promise<Finding> {
  const subject = `port ${securePort}`;
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      resolve(
        error.code === 'EADDRINUSE'
          ? warn(
              subject,
              'somebody listens there',
              'Well if that is the server itself; otherwise choose another --secure-port.',
            )
          : fail(subject, error.message, 'Choose another --bind-address or --secure-port.'),
      );
    });
    server.listen({ host: bindAddress, port: securePort }, () =>
      server.close(() => resolve(ok(subject, 'it is free'))),
    );
  });
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
