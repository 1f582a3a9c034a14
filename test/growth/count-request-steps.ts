import { resolve } from 'node:path';
import { CountedServer, type Prepared } from './counted-server';
import { stepsPerPair } from './growth';
import { REQUESTS, type RequestSubject } from './request-subjects';
import { StepCounter } from './step-counter';
import type { Sizes } from './subject';

/**
 * As count-steps.ts, but with whole requests to a whole server in this process: through the parser of headers, authentication,
 * authorization and admission.
 */

const SIZES: Sizes = { smallest: 8, doublings: 6 };
/** What else the server does meanwhile is counted, too: the least of several counts has least of it. */
const COUNTS = 3;

async function countRequest(counter: StepCounter, send: Prepared, status: RequestSubject['status']): Promise<number> {
  const expected = new Set([status].flat());
  let least = Infinity;
  for (let count = 0; count < COUNTS; count += 1) {
    const steps = await counter.countUntil(async () => {
      const response = await send();
      if (!expected.has(response.status))
        throw new Error(`answered ${response.status}: ${response.text.slice(0, 500)}`);
    });
    least = Math.min(least, steps);
  }
  return least;
}

async function excessOf(subject: RequestSubject, server: CountedServer, counter: StepCounter): Promise<number> {
  const { prepare, status, sizes = SIZES } = subject;
  const growth = stepsPerPair(sizes);
  let size = growth.next();
  while (size.done !== true) {
    const prepared = await prepare(size.value, server);
    size = growth.next(await countRequest(counter, prepared, status));
  }
  return size.value;
}

async function main(): Promise<void> {
  const [which = ''] = process.argv.slice(2);
  const subjects = Object.entries(REQUESTS).filter(([name]) => name.includes(which));
  const server = await CountedServer.start();
  const counter = new StepCounter(resolve(__dirname, '..', '..', 'src'));
  for (const [name, subject] of subjects) {
    try {
      const excess = await excessOf(subject, server, counter);
      if (excess > 0) console.log(JSON.stringify({ name, stepsPerPair: excess }));
    } catch (error) {
      console.log(JSON.stringify({ name, cause: error instanceof Error ? error.message : String(error) }));
    }
  }
  console.log(JSON.stringify({ subjects: subjects.length }));
  server.cleanUp();
  process.exit(0);
}

void main();
