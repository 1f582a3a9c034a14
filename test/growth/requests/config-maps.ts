import type { CountedServer } from '../counted-server';
import { byNumber, inNamespace, names } from './request-subject';

export const configMap = (count: number): object => ({
  metadata: { name: `of-${count}` },
  data: byNumber(count, () => 'a'),
});
export const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
export const withConfigMap = (count: number, server: CountedServer): Promise<void> =>
  server.create(CONFIG_MAPS, configMap(count));
export const manyConfigMaps = (count: number, server: CountedServer): Promise<void> =>
  inNamespace(
    server,
    `maps-${count}`,
    names(count).map((name) => [`/api/v1/namespaces/maps-${count}/configmaps`, { metadata: { name } }] as const),
  );
export const listOf = (count: number, query = ''): string => `/api/v1/namespaces/maps-${count}/configmaps${query}`;
