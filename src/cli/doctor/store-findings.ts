import { readFileSync, statfsSync, statSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { dirname } from 'node:path';
import type { ApiserverOptions } from '../../flags/apiserver-flags';
import { openEtcd, registryFileOf } from '../../flags/open-store';
import { silentLogger } from '../../observability/logger';
import { findHeadDamage } from '../../storage/embedded/file-check';
import type { StoreSpace } from '../../storage/store';
import { fail, ok, warn, type Finding } from './finding';

const TIMEOUT_MS = 5_000;
const SLOW_MS = 100;
const NEARLY_FULL = 0.85;
/** A whole second is the unit of the header that is compared. */
const CLOCK_WARN_MS = 2_000;
const CLOCK_FAIL_MS = 60_000;
const MIN_FREE_BYTES = 256 * 1024 * 1024;
const MIB = 1024 * 1024;

export type StoreFlags = Pick<
  ApiserverOptions,
  | 'dataDir'
  | 'etcdServers'
  | 'etcdPrefix'
  | 'etcdCafile'
  | 'etcdCertfile'
  | 'etcdKeyfile'
  | 'etcdClient'
  | 'quotaBackendBytes'
>;

/** Each server of etcd, or the file of the embedded store. */
export async function storeFindings(options: StoreFlags): Promise<readonly Finding[]> {
  if (options.etcdServers.length === 0) return fileFindings(options);
  const all = options.etcdServers.map(async (endpoint) => [
    ...(await etcdFindings(endpoint, options)),
    ...(await clockFindings(endpoint, options)),
  ]);
  return (await Promise.all(all)).flat();
}

async function etcdFindings(endpoint: string, options: StoreFlags): Promise<readonly Finding[]> {
  const subject = `etcd ${endpoint}`;
  try {
    const { store } = await withinTime(openEtcd({ ...options, etcdServers: [endpoint] }, 0, silentLogger));
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const startedMs = performance.now();
      await withinTime(store.health(signal));
      const tookMs = Math.round(performance.now() - startedMs);
      const response =
        tookMs > SLOW_MS
          ? warn(
              subject,
              `it answers, after ${tookMs} ms`,
              'Look at its disk and at the network between; an answer should take some milliseconds.',
            )
          : ok(subject, `it answers, after ${tookMs} ms`);
      return [response, ...(await store.space(signal)).map((space) => spaceFinding(subject, space))];
    } finally {
      await store.close();
    }
  } catch (error) {
    return [
      fail(
        subject,
        (error as Error).message,
        'See whether it runs, whether the address is right, and whether --etcd-cafile, --etcd-certfile and --etcd-keyfile are what it wants.',
      ),
    ];
  }
}

function spaceFinding(subject: string, { inUseBytes, fileBytes, quotaBytes, shortage }: StoreSpace): Finding {
  if (shortage !== undefined)
    return fail(subject, shortage, 'etcdctl compact, etcdctl defrag, then etcdctl alarm disarm.');
  const used = inUseBytes ?? fileBytes;
  const text = `${Math.ceil(used / MIB)} MiB are in use${quotaBytes === undefined ? '' : ` of ${Math.round(quotaBytes / MIB)}`}`;
  return quotaBytes !== undefined && used > quotaBytes * NEARLY_FULL
    ? warn(subject, text, 'Delete what is not needed, or raise --quota-backend-bytes.')
    : ok(subject, text);
}

/** The clock, by that of etcd's machine: tokens and certificates are good between two times. */
async function clockFindings(endpoint: string, options: StoreFlags): Promise<readonly Finding[]> {
  const theirs = await dateOf(endpoint, options).catch(() => undefined);
  if (theirs === undefined) return [];
  const aheadMs = Date.now() - theirs;
  const subject = 'clock';
  const text = `it differs by ${(Math.abs(aheadMs) / 1000).toFixed(0)} s from that of ${endpoint}`;
  const advice = 'Have both machines take their time from the same source (chrony, systemd-timesyncd).';
  if (Math.abs(aheadMs) > CLOCK_FAIL_MS) return [fail(subject, text, advice)];
  if (Math.abs(aheadMs) > CLOCK_WARN_MS) return [warn(subject, text, advice)];
  return [ok(subject, `as that of ${endpoint}`)];
}

function dateOf(endpoint: string, { etcdCafile, etcdCertfile, etcdKeyfile }: StoreFlags): Promise<number> {
  const url = new URL('/health', endpoint.includes('://') ? endpoint : `http://${endpoint}`);
  const read = (file: string): Buffer | undefined => (file === '' ? undefined : readFileSync(file));
  const tls = { ca: read(etcdCafile), cert: read(etcdCertfile), key: read(etcdKeyfile) };
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const sent = send(url, { ...tls, agent: false, timeout: TIMEOUT_MS }, (response) => {
      response.resume();
      const date = Date.parse(response.headers.date ?? '');
      if (Number.isNaN(date)) reject(new Error('no date'));
      else resolve(date);
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.on('error', reject);
    sent.end();
  });
}

function fileFindings({ dataDir, quotaBackendBytes }: StoreFlags): readonly Finding[] {
  const file = registryFileOf(dataDir);
  const subject = `data file ${file}`;
  try {
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size === 0) return [ok(subject, 'there is none yet; the server will make it')];
    const damage = findHeadDamage(file);
    if (damage !== undefined) {
      return [fail(subject, `it is damaged: ${damage}`, 'Restore a copy of it; the server will not open this one.')];
    }
    const { bavail, bsize } = statfsSync(dirname(file));
    const text = `${Math.ceil(size / MIB)} MiB, of ${Math.round(quotaBackendBytes / MIB)} at most; ${Math.round((bavail * bsize) / MIB)} MiB are free on its disk`;
    if (bavail * bsize < MIN_FREE_BYTES) return [warn(subject, text, 'Make room: a full disk takes no writes.')];
    return size > quotaBackendBytes * NEARLY_FULL
      ? [warn(subject, text, 'Stop the server and run "sternpost compact", or raise --quota-backend-bytes.')]
      : [ok(subject, text)];
  } catch (error) {
    return [fail(subject, (error as Error).message, 'Let the user of the server read and write it.')];
  }
}

async function withinTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)), TIMEOUT_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
