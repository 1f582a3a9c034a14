import { Registry } from 'prom-client';
import { admissionOutcome, admissionRequest } from '../../test/fixtures/admission-request';
import { admissionChain } from './chain';
import { AdmissionMetrics } from './metrics';
import { refuse, type AdmissionPlugin } from './plugin';

const label = (key: string): AdmissionPlugin => ({
  name: key,
  operations: ['CREATE'],
  mutate: async ({ object }) => ({
    ...object,
    metadata: {
      ...object.metadata,
      labels: { ...object.metadata.labels, [key]: Object.keys(object.metadata.labels ?? {}).join() },
    },
  }),
});
const refusing = (name: string): AdmissionPlugin => ({
  name,
  operations: ['CREATE'],
  validate: async (attributes) => {
    throw refuse(attributes, `${name} says no`);
  },
});

describe('the admission chain', () => {
  it('shows each mutating plugin what the ones before it made', async () => {
    const object = await admissionChain([label('a'), label('b')]).mutate(admissionRequest());
    expect(object?.metadata.labels).toEqual({ a: '', b: 'a' });
  });

  it('ends with the first refusal, in the words of a 403', async () => {
    const chain = admissionChain([refusing('one'), refusing('two')]);
    await expect(chain.validate(admissionRequest())).rejects.toMatchObject({
      status: { code: 403, reason: 'Forbidden', message: 'configmaps "c" is forbidden: one says no' },
    });
  });

  it('asks all plugins once more when one of them wants that, and no oftener', async () => {
    const asked: string[] = [];
    const wanting: AdmissionPlugin = {
      name: 'wanting',
      operations: ['CREATE'],
      mutate: async ({ object, reinvocation }) => {
        asked.push(`wanting in round ${reinvocation.round}`);
        reinvocation.isWanted = true;
        return { ...object, spec: reinvocation.round };
      },
    };
    const other: AdmissionPlugin = {
      name: 'other',
      operations: ['CREATE'],
      mutate: async ({ object }) => (asked.push(`other sees ${String(object['spec'])}`), object),
    };
    const registry = new Registry();
    const chain = admissionChain([other, wanting], new AdmissionMetrics(registry));
    expect((await chain.mutate(admissionRequest()))?.['spec']).toBe(1);
    expect(asked).toEqual(['other sees undefined', 'wanting in round 0', 'other sees 0', 'wanting in round 1']);
    // The step is one, however many rounds it had.
    expect(await registry.metrics()).toMatch(/step_admission_duration_seconds_count\{[^}]*\} 1\n/);
  });

  it('asks about a delete what checks, and not what changes objects', async () => {
    const asked: string[] = [];
    const plugin = (name: string, part: Partial<AdmissionPlugin>): AdmissionPlugin => ({
      name,
      operations: ['DELETE', 'CREATE'],
      ...part,
    });
    const note = (text: string) => async (): Promise<void> => void asked.push(text);
    const chain = admissionChain([
      plugin('changes', { mutate: async ({ object }) => (asked.push('changes'), object) }),
      plugin('checks', { check: note('checks') }),
      plugin('both', {
        mutate: async ({ object }) => (asked.push('both changes'), object),
        check: note('both checks'),
      }),
    ]);
    expect(await chain.mutate(admissionRequest({ operation: 'DELETE', object: undefined }))).toBeUndefined();
    expect(asked.splice(0)).toEqual(['checks', 'both checks']);
    await chain.mutate(admissionRequest());
    expect(asked).toEqual(['changes', 'checks', 'both changes']);
  });

  it('asks a plugin only about its operations and resources', async () => {
    const chain = admissionChain([{ ...refusing('picky'), resources: ['pods', 'pods/status', 'jobs.batch'] }]);
    const outcome = async (part: Parameters<typeof admissionRequest>[0]) =>
      (await admissionOutcome(() => chain.validate(admissionRequest(part)))) === 'admitted' ? 'passed' : 'refused';
    expect(await outcome({ resource: 'configmaps' })).toBe('passed');
    expect(await outcome({ resource: 'pods' })).toBe('refused');
    expect(await outcome({ resource: 'pods', operation: 'DELETE' })).toBe('passed');
    expect(await outcome({ resource: 'pods', subresource: 'status' })).toBe('refused');
    expect(await outcome({ resource: 'pods', subresource: 'binding' })).toBe('passed');
    expect(await outcome({ resource: 'jobs' })).toBe('passed');
    expect(await outcome({ resource: 'jobs', group: 'batch' })).toBe('refused');
  });

  it('writes down how long plugins and steps take', async () => {
    const registry = new Registry();
    const chain = admissionChain([label('a'), refusing('b')], new AdmissionMetrics(registry));
    await chain.mutate(admissionRequest());
    await expect(chain.validate(admissionRequest())).rejects.toThrow();
    const text = await registry.metrics();
    const plugin = 'apiserver_admission_controller_admission_duration_seconds_count';
    const step = 'apiserver_admission_step_admission_duration_seconds_count';
    expect(text).toContain(`${plugin}{name="a",operation="CREATE",rejected="false",type="admit"} 1`);
    expect(text).toContain(`${plugin}{name="b",operation="CREATE",rejected="true",type="validate"} 1`);
    expect(text).toContain(`${step}{operation="CREATE",rejected="false",type="admit"} 1`);
    expect(text).toContain(`${step}{operation="CREATE",rejected="true",type="validate"} 1`);
  });
});
