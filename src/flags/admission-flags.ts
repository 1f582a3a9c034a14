import { readFileSync } from 'node:fs';
import { readPluginConfigurations } from '../admission/configuration';
import { PLUGINS } from '../admission/plugin-table';
import { selectPlugins, type PluginFlags } from '../admission/select-plugins';
import type { AdmissionOptions } from '../apiserver/admission-plugins';
import type { ApiserverOptions } from './apiserver-flags';
import type { FeatureGates } from '../api/kinds/feature-gates';

type Flags = Pick<
  ApiserverOptions,
  | 'admissionControl'
  | 'admissionControlConfigFile'
  | 'defaultNotReadyTolerationSeconds'
  | 'defaultUnreachableTolerationSeconds'
  | 'disableAdmissionPlugins'
  | 'enableAdmissionPlugins'
>;

/** The old `--admission-control` lists all that is on. */
function pluginFlags({ admissionControl, enableAdmissionPlugins, disableAdmissionPlugins }: Flags): PluginFlags {
  if (admissionControl.length === 0) return { enable: enableAdmissionPlugins, disable: disableAdmissionPlugins };
  const others = PLUGINS.map(({ name }) => name).filter((name) => !admissionControl.includes(name));
  return { enable: admissionControl, disable: others };
}

/** What the flags about admission ask for, with everything that is wrong with them. */
export function admissionFromFlags(
  flags: Flags,
  gates: Pick<FeatureGates, 'BoundServiceAccountTokenVolume'>,
): {
  readonly admission: AdmissionOptions;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
} {
  const { names, problems, warnings } = selectPlugins(pluginFlags(flags));
  const { admissionControlConfigFile: file } = flags;
  let configurations: AdmissionOptions['configurations'] = new Map();
  const unreadable: string[] = [];
  try {
    if (file !== '') configurations = readPluginConfigurations(file, (path) => readFileSync(path, 'utf8'));
  } catch (error) {
    unreadable.push((error as Error).message);
  }
  const mixed =
    flags.admissionControl.length > 0 && flags.enableAdmissionPlugins.length + flags.disableAdmissionPlugins.length > 0;
  return {
    admission: {
      plugins: names,
      configurations,
      configurationFile: file,
      notReadySeconds: flags.defaultNotReadyTolerationSeconds,
      unreachableSeconds: flags.defaultUnreachableTolerationSeconds,
      boundTokens: gates.BoundServiceAccountTokenVolume,
    },
    problems: [
      ...problems,
      ...unreadable,
      ...(mixed
        ? ['admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive']
        : []),
    ],
    warnings,
  };
}
