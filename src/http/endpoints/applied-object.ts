import { readYaml, YamlSyntaxError, type YamlReading } from '../../api/codec/yaml';
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
  const { value, duplicates } = read(body.toString('utf8'));
  const parsed = objectOf(value);
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
    reportStrict(request.context, options.fieldValidation, duplicates, () =>
      badRequest(`error strict decoding YAML: error converting YAML to JSON: ${duplicates.join(', ')}`),
    );
  }
  const { metadata } = parsed;
  if (metadata !== undefined && metadata !== null && (typeof metadata !== 'object' || Array.isArray(metadata))) {
    throw badRequest('the metadata of the applied object is no map');
  }
  return { ...parsed, metadata: metadata ?? {} };
}

function read(text: string): YamlReading {
  try {
    return readYaml(text);
  } catch (error) {
    if (error instanceof YamlSyntaxError) {
      throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`);
    }
    throw error;
  }
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  const object = value ?? {};
  if (typeof object !== 'object' || Array.isArray(object)) {
    throw badRequest('error decoding YAML: the document is no map');
  }
  return object as Readonly<Record<string, unknown>>;
}
