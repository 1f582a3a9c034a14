import { duplicateYamlKeys, parseYaml, YamlSyntaxError } from '../../api/codec/yaml';
import { badRequest } from '../../api/errors/status-error';
import { apiVersionOf, type KubeObject } from '../../api/object';
import { reportStrict } from '../decode';
import type { ResourceRequest } from '../dependencies';
import type { WriteOptions } from '../write-options';
import { kindOf } from './resource-request';

/**
 * The partial object of a server-side apply, as it was sent: nothing is defaulted, for what is not there is not owned.
 * Throws a 400 for what is no object of the path's kind and version.
 */
export function parseAppliedObject(request: ResourceRequest, body: Buffer, options: WriteOptions): KubeObject {
  const text = body.toString('utf8');
  const parsed = parse(text);
  const expected = kindOf(request);
  const expectedVersion = apiVersionOf(expected.group, expected.version);
  const sentVersion = typeof parsed.apiVersion === 'string' ? parsed.apiVersion : '';
  if (sentVersion !== expectedVersion) {
    throw badRequest(
      `Incorrect version specified in apply patch. Specified patch version: ${sentVersion}, expected: ${expectedVersion}`,
    );
  }
  if (parsed.kind !== expected.kind) {
    const kind = typeof parsed.kind === 'string' ? parsed.kind : '';
    throw badRequest(`no corresponding type for ${sentVersion}, Kind=${kind}, expected ${expected.kind}`);
  }
  if (options.fieldValidation !== 'Ignore') {
    const problems = duplicateYamlKeys(text);
    reportStrict(request.context, options.fieldValidation, problems, () =>
      badRequest(`error strict decoding YAML: error converting YAML to JSON: ${problems.join(', ')}`),
    );
  }
  const { metadata } = parsed;
  if (metadata !== undefined && metadata !== null && (typeof metadata !== 'object' || Array.isArray(metadata))) {
    throw badRequest('the metadata of the applied object is no map');
  }
  return { ...parsed, metadata: metadata ?? {} };
}

function parse(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = parseYaml(text) ?? {};
  } catch (error) {
    if (error instanceof YamlSyntaxError) {
      throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`);
    }
    throw error;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest('error decoding YAML: the document is no map');
  }
  return value as Readonly<Record<string, unknown>>;
}
