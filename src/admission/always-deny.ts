import { refuse, type AdmissionPlugin } from './plugin';

/** AlwaysDeny: refuses every change, for tests. Deprecated since 1.13. */
export const alwaysDeny: AdmissionPlugin = {
  name: 'AlwaysDeny',
  operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'],
  validate: async (attributes) => {
    throw refuse(attributes, 'admission control is denying all modifications');
  },
};
