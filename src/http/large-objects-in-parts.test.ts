import { finished } from 'node:stream/promises';
import { CONFIG_MAPS, MERGE, servedOverHttp, TABLE } from '../../test/support/served-over-http';

/** Nothing prints or parses more than that of an object at one stretch; pieces of texts have 32 KiB, chunks 64. */
const LARGEST_TEXT = 80 * 1024;
const PODS = '/api/v1/namespaces/a/pods';
const PROTOBUF = { accept: 'application/vnd.kubernetes.protobuf' };
const STRATEGIC = { 'content-type': 'application/strategic-merge-patch+json' };
const APPLY = { 'content-type': 'application/apply-patch+yaml' };

/** Of what is parsed, the last is kept. */
const { open } = servedOverHttp({}, { parsedBytes: 1 });

/** The answer is read and left: the client prints and parses nothing while texts are measured. */
async function statusOf(...[method, path, sent]: Parameters<typeof open>): Promise<number> {
  const response = await open(method, path, sent);
  await finished(response.resume());
  return response.statusCode ?? 0;
}

/** The longest text that was printed or parsed at one stretch meanwhile. */
async function longestText(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  const { parse, stringify } = JSON;
  const spies = [
    jest.spyOn(JSON, 'parse').mockImplementation((...args) => {
      longest = Math.max(longest, args[0].length);
      return parse(...args) as unknown;
    }),
    jest.spyOn(JSON, 'stringify').mockImplementation((...args: Parameters<typeof stringify>) => {
      const text = stringify(...args);
      longest = Math.max(longest, (text as string | undefined)?.length ?? 0);
      return text;
    }),
  ];
  try {
    await work();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return longest;
}

const data = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`key-${index}`, `value-${index}`]));
const containers = Array.from({ length: 2_000 }, (_, index) => ({ name: `c${index}`, image: 'i' }));
const configMap = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'large' }, data });
const pod = (name: string, more: object = {}): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers, ...more } });
const label = JSON.stringify({ metadata: { labels: { a: 'b' } } });
const annotation = JSON.stringify({ metadata: { annotations: { a: 'b' } } });

test.each<
  [string, status: number, method: string, path: string, headers: Readonly<Record<string, string>>, body?: string]
>([
  ['created', 201, 'POST', CONFIG_MAPS, {}, configMap],
  ['read as Protobuf, with its owners', 200, 'GET', `${CONFIG_MAPS}/large`, PROTOBUF],
  ['read as a table', 200, 'GET', `${CONFIG_MAPS}/large`, TABLE],
  ['read indented', 200, 'GET', `${CONFIG_MAPS}/large?pretty=1`, {}],
  ['patched', 200, 'PATCH', `${CONFIG_MAPS}/large`, MERGE, label],
  ['applied', 200, 'PATCH', `${CONFIG_MAPS}/large?fieldManager=m&force=true`, APPLY, configMap],
  ['changed for nobody', 200, 'PATCH', `${CONFIG_MAPS}/large?dryRun=All`, MERGE, annotation],
  ['deleted', 200, 'DELETE', `${CONFIG_MAPS}/large`, {}],
  ['created with many containers', 201, 'POST', PODS, {}, pod('many')],
  ['patched strategically', 200, 'PATCH', `${PODS}/many`, STRATEGIC, label],
  [
    'refused, with what has changed',
    422,
    'PUT',
    `${PODS}/many`,
    {},
    pod('many', { hostname: 'h', containers: containers.map((one) => ({ ...one, command: ['other'] })) }),
  ],
  ['forgotten for another', 201, 'POST', CONFIG_MAPS, {}, configMap],
  ['forgotten while another is read', 200, 'GET', `${CONFIG_MAPS}/large`, TABLE],
  ['asked for a log', 400, 'GET', `${PODS}/many/log`, {}],
  ['forgotten while another is read', 200, 'GET', `${CONFIG_MAPS}/large`, TABLE],
  ['asked to run a command', 400, 'POST', `${PODS}/many/exec?command=a`, {}],
  ['forgotten while another is read', 200, 'GET', `${CONFIG_MAPS}/large`, TABLE],
  ['asked for a port', 400, 'GET', `${PODS}/many:80/proxy/`, {}],
  ['deleted with many containers', 200, 'DELETE', `${PODS}/many?gracePeriodSeconds=0`, {}],
])(
  'a large object is not printed or parsed at one stretch when it is %s',
  async (...[, status, method, path, headers, body]) => {
    let found = 0;
    const longest = await longestText(
      async () =>
        (found = await statusOf(method, path, { body, headers: { 'content-type': 'application/json', ...headers } })),
    );
    expect(found).toBe(status);
    expect(longest).toBeLessThan(LARGEST_TEXT);
  },
);
