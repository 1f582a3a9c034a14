import { refuse, type AdmissionAttributes, type AdmissionPlugin } from './plugin';

async function deny(attributes: AdmissionAttributes): Promise<void> {
  throw refuse(attributes, 'admission control is denying all modifications');
}

/** AlwaysDeny: refuses every change, for tests. Deprecated since 1.13. */
export const alwaysDeny: AdmissionPlugin = {
  name: 'AlwaysDeny',
  operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'],
  check: deny,
  validate: deny,
};
