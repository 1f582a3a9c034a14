import type { Authorize } from './authorize';
import { refuse, type AdmissionAttributes } from './plugin';

/**
 * Refuses users who may not `verb` requests for the signer (spec, "Certificate permissions"): the permission names the
 * signer, or all signers of its domain.
 */
export async function checkSignerPermission(
  attributes: AdmissionAttributes,
  verb: 'approve' | 'sign',
  authorize: Authorize,
): Promise<void> {
  const { user, oldObject } = attributes;
  const { signerName = '' } = (oldObject?.spec ?? {}) as { readonly signerName?: string };
  const [domain = ''] = signerName.split('/', 1);
  for (const name of [signerName, `${domain}/*`]) {
    const { allowed } = await authorize({
      user,
      verb,
      group: 'certificates.k8s.io',
      version: '*',
      resource: 'signers',
      subresource: '',
      namespace: '',
      name,
    });
    if (allowed) return;
  }
  throw refuse(attributes, `user not permitted to ${verb} requests with signerName ${JSON.stringify(signerName)}`);
}
