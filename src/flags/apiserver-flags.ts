import { aggregatorFlags } from './aggregator-flags';
import { auditFlags } from './audit-flags';
import { authenticationFlags } from './authentication-flags';
import { authorizationFlags } from './authorization-flags';
import { extensionFlags } from './extension-flags';
import type { FlagTable, OptionsOf } from './flag-table';
import { healthFlags } from './health-flags';
import { http2Flags } from './http2-flags';
import { tracingFlags } from './tracing-flags';
import { versionFlags } from './version-flags';
import { kubeletFlags } from './kubelet-flags';
import { encryptionFlags } from './encryption-flags';
import { storageFlags } from './storage-flags';
import { tlsFlags } from './tls-flags';

/** The flags of `sternpost apiserver`: kube-apiserver's names, meanings and defaults, and a few of our own. */
export const apiserverFlags = {
  'data-dir': {
    type: 'string',
    section: 'Storage',
    default: '.sternpost',
    help: 'Folder of the embedded store, used for objects when --etcd-servers is absent, and of generated certificates.',
  },
  'etcd-servers': {
    type: 'strings',
    section: 'Storage',
    help: 'Endpoints of etcd, comma-separated (scheme://host:port).',
  },
  'etcd-prefix': { type: 'string', section: 'Storage', default: '/registry', help: 'Prefix of all keys in etcd.' },
  'etcd-client': {
    type: 'string',
    section: 'Storage',
    default: 'sternpost',
    help: 'Client library towards etcd: sternpost (our own, the faster one) or etcd3 (the npm package of that name, on @grpc/grpc-js).',
  },
  'etcd-cafile': { type: 'string', section: 'Storage', help: 'CA that verifies etcd. Read for each connection.' },
  'etcd-certfile': {
    type: 'string',
    section: 'Storage',
    help: 'Client certificate for etcd. Read for each connection.',
  },
  'etcd-keyfile': { type: 'string', section: 'Storage', help: 'Key of the client certificate for etcd.' },
  'etcd-compaction-interval': {
    type: 'duration',
    section: 'Storage',
    default: '5m0s',
    help: 'How much history is kept; older revisions are compacted. 0 leaves compaction to others; the embedded store then keeps all that it has room for.',
  },
  ...storageFlags,
  ...encryptionFlags,
  'event-ttl': { type: 'duration', section: 'Storage', default: '1h0m0s', help: 'How long Events are kept.' },
  'bind-address': { type: 'string', section: 'Serving', default: '0.0.0.0', help: 'Address to listen on.' },
  'secure-port': { type: 'port', section: 'Serving', default: '6443', help: 'Port for HTTPS; 0 picks a free one.' },
  'advertise-address': {
    type: 'string',
    section: 'Serving',
    help: 'Address under which others reach this server; default: that of the first network interface.',
  },
  workers: {
    type: 'int',
    section: 'Serving',
    default: '1',
    help: 'Processes that share the port, for machines with more cores; needs --etcd-servers.',
  },
  'cert-dir': {
    type: 'string',
    section: 'Serving',
    help: 'Folder of the certificates and keys that the server makes for itself: a CA, those of serving and of an administrator, the key of service account tokens. A CA that lies there (ca.crt, ca.key) is used. Default: pki below --data-dir.',
  },
  'tls-cert-file': {
    type: 'string',
    section: 'Serving',
    help: 'Serving certificate, with its chain; generated when absent.',
  },
  'tls-private-key-file': { type: 'string', section: 'Serving', help: 'Key of the serving certificate.' },
  ...tlsFlags,
  ...http2Flags,
  ...extensionFlags,
  ...healthFlags,
  ...kubeletFlags,
  'request-timeout': {
    type: 'duration',
    section: 'Serving',
    default: '1m0s',
    help: 'Limit for requests other than watches and streams.',
  },
  'enable-priority-and-fairness': {
    type: 'bool',
    section: 'Serving',
    default: 'true',
    help: 'Requests wait for their turn by FlowSchemas and PriorityLevelConfigurations, which divide the two following limits together. If false, more requests than these limits are answered 429.',
  },
  'max-requests-inflight': {
    type: 'int',
    section: 'Serving',
    default: '400',
    help: 'Reads that may be under way at once, watches and streams not counted. 0: no limit, without priority and fairness. With --workers, of each of them.',
  },
  'max-mutating-requests-inflight': {
    type: 'int',
    section: 'Serving',
    default: '200',
    help: 'Writes that may be under way at once. 0: no limit, without priority and fairness. With --workers, of each of them.',
  },
  'min-request-timeout': {
    type: 'int',
    section: 'Serving',
    default: '1800',
    help: 'Seconds that a watch without timeoutSeconds lasts at least; the actual time is random up to twice that.',
  },
  'shutdown-delay-duration': {
    type: 'duration',
    section: 'Serving',
    default: '0s',
    help: 'After SIGTERM, /readyz fails for this long while requests are still served.',
  },
  'livez-grace-period': {
    type: 'duration',
    section: 'Serving',
    default: '0s',
    help: 'How long after the start /livez takes unfinished start-up work as healthy.',
  },
  'service-cluster-ip-range': {
    type: 'strings',
    section: 'Serving',
    default: '10.0.0.0/24',
    help: 'Network of Service cluster IPs; the first address is that of the kubernetes Service. Two networks, one of each family, for dual stack.',
  },
  'service-node-port-range': {
    type: 'string',
    section: 'Serving',
    default: '30000-32767',
    help: 'Ports of every node that Services may have, the first and the last included.',
  },
  ...authenticationFlags,
  ...authorizationFlags,
  'enable-admission-plugins': {
    type: 'strings',
    section: 'Admission',
    help: 'Plugins that are on besides those that are on anyway, comma-separated; their order does not matter.',
  },
  'disable-admission-plugins': {
    type: 'strings',
    section: 'Admission',
    help: 'Plugins that are off although they are on by default, comma-separated.',
  },
  'admission-control': {
    type: 'strings',
    section: 'Admission',
    help: 'Deprecated: all plugins that are on. Use --enable-admission-plugins and --disable-admission-plugins.',
  },
  'admission-control-config-file': {
    type: 'string',
    section: 'Admission',
    help:
      'File with the configurations of plugins (AdmissionConfiguration), those of MutatingAdmissionWebhook and ' +
      'ValidatingAdmissionWebhook among them: the kubeconfig with what webhooks are shown.',
  },
  'default-not-ready-toleration-seconds': {
    type: 'int',
    section: 'Admission',
    default: '300',
    help: 'How long pods that say nothing else stay on a node that is not ready.',
  },
  'default-unreachable-toleration-seconds': {
    type: 'int',
    section: 'Admission',
    default: '300',
    help: 'How long pods that say nothing else stay on a node that cannot be reached.',
  },
  ...auditFlags,
  'runtime-config': {
    type: 'map',
    section: 'Misc',
    help: 'What is served: api/all, api/ga, api/beta, api/alpha or group/version (also extensions/v1beta1/resource), each =true or =false, comma-separated. Alpha versions are off unless switched on.',
  },
  v: {
    type: 'int',
    section: 'Misc',
    default: '0',
    help: 'How much is logged: from 3 on every request, as on kube-apiserver, from 4 on what helps to find faults, from 6 on everything. PUT /debug/flags/v changes it.',
  },
  profiling: {
    type: 'bool',
    section: 'Misc',
    default: 'true',
    help: 'Serve /debug/pprof (CPU and heap profiles in the formats of V8) and /debug/flags/v to whoever may get and put them.',
  },
  'logging-format': {
    type: 'string',
    section: 'Misc',
    help: 'json or text; default: text at a terminal, json elsewhere.',
  },
  'feature-gates': { type: 'strings', section: 'Misc', help: 'Gate=true or Gate=false, comma-separated.' },
  'enable-aggregator-routing': {
    type: 'bool',
    section: 'Misc',
    help: 'Reach the services of webhooks and other API servers at one of their endpoints, not at the address of the service.',
  },
  ...tracingFlags,
  ...aggregatorFlags,
  ...versionFlags,
  version: { type: 'bool', section: 'Misc', help: 'Print the version and exit.' },
  help: { type: 'bool', section: 'Misc', help: 'Print this text and exit.' },
} as const satisfies FlagTable;

export type ApiserverOptions = OptionsOf<typeof apiserverFlags>;
