import { setTimeout as delay } from 'node:timers/promises';
import { EtcdServer, type EtcdMember } from './etcd-server';
import { freePorts } from './free-ports';

/** A new leader is there within a second; the defaults are for wider networks. */
const FAST_ELECTIONS = ['--heartbeat-interval=50', '--election-timeout=500'];
const ELECTION_PATIENCE_MS = 20_000;

/** Starts several etcd servers of one cluster, and waits until they have a leader. */
export async function startEtcdCluster(count: number, flags: readonly string[] = []): Promise<readonly EtcdServer[]> {
  const ports = await freePorts(2 * count);
  const members = Array.from({ length: count }, (_, i): Omit<EtcdMember, 'cluster'> => ({
    name: `member-${i}`,
    clientPort: ports[2 * i]!,
    peerPort: ports[2 * i + 1]!,
  }));
  const cluster = members.map(({ name, peerPort }) => `${name}=http://127.0.0.1:${peerPort}`).join(',');
  const starting = members.map((member) =>
    EtcdServer.start({ member: { ...member, cluster }, flags: [...FAST_ELECTIONS, ...flags] }),
  );
  const servers = await Promise.all(starting);
  await leaderOf(servers);
  return servers;
}

/** The member that leads now; waits while there is none. */
export async function leaderOf(servers: readonly EtcdServer[]): Promise<EtcdServer> {
  for (const deadline = Date.now() + ELECTION_PATIENCE_MS; Date.now() < deadline; await delay(50)) {
    for (const server of servers) if (await leads(server)) return server;
  }
  throw new Error('the etcd cluster has no leader');
}

async function leads({ endpoint }: EtcdServer): Promise<boolean> {
  try {
    const response = await fetch(`${endpoint}/metrics`, { signal: AbortSignal.timeout(500) });
    return /^etcd_server_is_leader 1$/m.test(await response.text());
  } catch {
    return false;
  }
}
