import { networkInterfaces } from 'node:os';

/** The first address of this machine that others can reach; loopback when there is none. */
export function defaultAdvertiseAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}
