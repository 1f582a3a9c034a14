import { admissionRequest } from '../../../test/fixtures/admission-request';
import { askWebhook, type CallBackend } from './call';
import type { Candidate } from './webhook-index';

const NOTHING = { object: Buffer.from('null'), oldObject: Buffer.from('null') };
const seenAs = {
  group: '',
  version: 'v1',
  resource: 'configmaps',
  subresource: '',
  kind: { group: '', version: 'v1', kind: 'ConfigMap' },
};
const webhook = {
  name: 'hook.example.io',
  type: 'validating',
  reviewVersion: 'v1',
  hasSideEffects: false,
  timeoutMs: 1_000,
} as unknown as Candidate['webhook'];

/** A backend that allows what it is asked, with these fields. */
const allowing =
  (fields: object): CallBackend =>
  async ({ body }) => {
    const { apiVersion, kind, request } = JSON.parse(Buffer.concat(body).toString()) as {
      readonly apiVersion: string;
      readonly kind: string;
      readonly request: { readonly uid: string };
    };
    const response = { uid: request.uid, allowed: true, ...fields };
    return Buffer.from(JSON.stringify({ apiVersion, kind, response }));
  };

it('what a webhook notes for the audit log has its name before it, and is left out where that makes no key', async () => {
  const noted = new Map<string, string>();
  const attributes = admissionRequest({ annotate: (key, value) => void noted.set(key, value) });
  const auditAnnotations = { key: 'value', e: '', 'example.com/x': 'y', '': 'x', 'a b': 'c' };
  const candidate: Candidate = { webhook, seenAs, position: 0 };
  await askWebhook(candidate, attributes, NOTHING, allowing({ auditAnnotations }));
  expect([...noted]).toEqual([
    ['hook.example.io/key', 'value'],
    ['hook.example.io/e', ''],
  ]);
});
