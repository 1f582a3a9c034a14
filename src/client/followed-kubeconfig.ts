import { followFiles, type FollowedFiles } from '../files/followed-files';
import type { Logger } from '../observability/logger';
import { kubeconfigFiles } from './kubeconfig-file';

/** What is made of a kubeconfig, anew when it, or a file that it names, has changed. Throws what is wrong with it at first. */
export function followKubeconfig<T extends { readonly close: () => void }>(
  file: string,
  load: () => T,
  logger: Logger,
): FollowedFiles<T> {
  return followFiles({
    files: () => kubeconfigFiles(file),
    load,
    onChanged: () => logger.info({ file }, 'a kubeconfig was read again'),
    onFailed: (error) => logger.warn({ err: error, file }, 'a kubeconfig that has changed cannot be used yet'),
  });
}
