#!/usr/bin/env node
/**
 * What admission costs the creation of a ConfigMap in a namespace without limits, quotas or labels, with the plugins
 * that are on by default. Run "npm run build" first; `--dist` names another build. The bound is 30 microseconds.
 */
const { performance } = require('node:perf_hooks');
const { load } = require('./built');

const BOUND_MICROSECONDS = 30;
const WARM_UP = 20_000;
const ROUNDS = 5;
const CALLS_PER_ROUND = 50_000;

async function main() {
  const { Registry } = require('prom-client');
  const { admissionChain } = load('admission/chain');
  const { AdmissionMetrics } = load('admission/metrics');
  const { admissionPlugins, DEFAULT_ADMISSION } = load('cli/admission-plugins');
  const namespace = { metadata: { name: 'plain' }, status: { phase: 'Active' } };
  const reader = { get: () => undefined, getLive: async () => namespace, list: () => [] };
  const plugins = admissionPlugins(DEFAULT_ADMISSION, {
    reader,
    authorize: async () => ({ decision: 'allow', reason: '' }),
    quotas: { list: () => [], putUsed: () => Promise.reject(new Error('there are no quotas')) },
    findResource: () => undefined,
    createNamespace: async () => undefined,
    requestTimeoutMs: 60_000,
  });
  const chain = admissionChain(plugins, new AdmissionMetrics(new Registry()));
  const object = { metadata: { name: 'c', namespace: 'plain' }, data: { key: 'value' } };
  const request = {
    operation: 'CREATE',
    group: '',
    version: 'v1',
    resource: 'configmaps',
    subresource: '',
    kind: { group: '', version: 'v1', kind: 'ConfigMap' },
    namespace: 'plain',
    name: 'c',
    object,
    oldObject: undefined,
    options: {},
    dryRun: false,
    user: { name: 'alice', groups: [] },
    signal: new AbortController().signal,
    warn: () => undefined,
    annotate: () => undefined,
    onRefused: () => undefined,
  };
  const run = async (calls) => {
    const start = performance.now();
    for (let call = 0; call < calls; call++) {
      if ((await chain.mutate(request)) !== object) throw new Error('a ConfigMap is not to be changed');
      await chain.validate(request);
    }
    return ((performance.now() - start) * 1000) / calls;
  };
  await run(WARM_UP);
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await run(CALLS_PER_ROUND));
  const median = rounds.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)];
  process.stdout.write(
    `admission of a ConfigMap: ${median.toFixed(2)} microseconds (${ROUNDS} rounds, ` +
      `${rounds[0].toFixed(2)} to ${rounds.at(-1).toFixed(2)}; bound ${BOUND_MICROSECONDS})\n`,
  );
  if (median > BOUND_MICROSECONDS) process.exitCode = 1;
}

void main();
