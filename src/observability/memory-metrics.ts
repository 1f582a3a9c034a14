import { Counter, Gauge, type Registry } from 'prom-client';

/** What the server holds for its clients; kube-apiserver has no such metrics. */
export interface ClientMemory {
  readonly limitBytes: number;
  readonly heldBytes: number;
  readonly droppedAccounts: number;
}

/** What watches and streams make the server keep, by what each of them is taken to cost. */
export interface LongRunningMemory {
  readonly limitBytes: number;
  readonly takenBytes: number;
}

export function registerMemoryMetrics(registry: Registry, memory: ClientMemory, longRunning: LongRunningMemory): void {
  const registers = [registry];
  new Gauge({
    name: 'sternpost_client_memory_bytes',
    help: 'Bytes that are held for clients: answers that they have not taken, bodies that are not complete.',
    registers,
    collect() {
      this.set(memory.heldBytes);
    },
  });
  new Gauge({
    name: 'sternpost_client_memory_limit_bytes',
    help: 'How many bytes may be held for clients before the connection is dropped that holds most for longest.',
    registers,
    collect() {
      this.set(memory.limitBytes);
    },
  });
  new Counter({
    name: 'sternpost_client_memory_dropped_connections_total',
    help: 'Connections that were dropped because they held most of the memory for clients when it was used up.',
    registers,
    collect() {
      this.reset();
      this.inc(memory.droppedAccounts);
    },
  });
  new Gauge({
    name: 'sternpost_longrunning_memory_bytes',
    help: 'What watches and streams under way are taken to make the server keep.',
    registers,
    collect() {
      this.set(longRunning.takenBytes);
    },
  });
  new Gauge({
    name: 'sternpost_longrunning_memory_limit_bytes',
    help: 'What all watches and streams may take; nobody may have more than is left.',
    registers,
    collect() {
      this.set(longRunning.limitBytes);
    },
  });
}
