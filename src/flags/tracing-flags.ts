import { readFileSync } from 'node:fs';
import { parseYaml } from '../api/codec/yaml';
import type { FlagTable } from './flag-table';

export const tracingFlags = {
  'tracing-config-file': {
    type: 'string',
    section: 'Misc',
    help:
      'File with a TracingConfiguration: where spans of requests are sent to (OTLP over gRPC) and how many of a million requests are traced. ' +
      'Needs OpenTelemetry, which is not among the dependencies.',
  },
} as const satisfies FlagTable;

export interface TracingConfiguration {
  readonly endpoint: string;
  readonly samplingRatePerMillion: number;
}

const VERSIONS = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `apiserver.config.k8s.io/${version}`);
const FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'endpoint', 'samplingRatePerMillion']);
/** OpenTelemetry's own port. */
const DEFAULT_ENDPOINT = 'localhost:4317';
const ENDPOINT = /^(?:\[[\da-fA-F:.]+\]|[\w.-]+):\d{1,5}$/;

/** Reads kube-apiserver's TracingConfiguration. Throws what is wrong with it. */
export function parseTracingConfiguration(text: string): TracingConfiguration {
  const read: unknown = parseYaml(text);
  if (typeof read !== 'object' || read === null) throw new Error('it is no TracingConfiguration');
  const configuration = read as Readonly<Record<string, unknown>>;
  const { apiVersion, kind, endpoint = DEFAULT_ENDPOINT, samplingRatePerMillion: rate = 0 } = configuration;
  if (kind !== 'TracingConfiguration' || !VERSIONS.includes(String(apiVersion))) {
    throw new Error(`it is no TracingConfiguration of ${VERSIONS.join(', ')}`);
  }
  const unknown = Object.keys(configuration).find((name) => !FIELDS.has(name));
  if (unknown !== undefined) throw new Error(`unknown field "${unknown}"`);
  if (typeof endpoint !== 'string' || !ENDPOINT.test(endpoint)) {
    throw new Error(`endpoint: Invalid value: ${JSON.stringify(endpoint)}: must be host:port`);
  }
  if (typeof rate !== 'number' || !Number.isInteger(rate) || rate < 0 || rate > 1_000_000) {
    throw new Error(
      `samplingRatePerMillion: Invalid value: ${JSON.stringify(rate)}: sampling rate must be less than or equal to one million and not negative`,
    );
  }
  return { endpoint, samplingRatePerMillion: rate };
}

/** Undefined: nothing is traced. */
export function tracingFromFlags({
  tracingConfigFile: file,
}: {
  readonly tracingConfigFile: string;
}): TracingConfiguration | undefined {
  if (file === '') return undefined;
  try {
    return parseTracingConfiguration(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`--tracing-config-file ${file}: ${(error as Error).message}`, { cause: error });
  }
}

export function tracingProblems(options: { readonly tracingConfigFile: string }): readonly string[] {
  try {
    tracingFromFlags(options);
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}
